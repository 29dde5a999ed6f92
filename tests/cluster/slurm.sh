#!/usr/bin/env bash
# A real SLURM of two nodes on this machine, as it is tested with: slurm.sh start FOLDER, die FOLDER NODE (with all that
# runs on it), node FOLDER NODE, stop FOLDER.
set -euo pipefail
folder=$(realpath -m "$2")
export SLURM_CONF=$folder/slurm.conf

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }

start() {
  mkdir -p "$folder/state" "$folder/n1" "$folder/n2"
  cat > "$SLURM_CONF" <<CONF
ClusterName=one-machine
SlurmctldHost=$(hostname -s)
SlurmctldPort=$(free_port)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdTimeout=5
ReturnToService=2
KillWait=2
MinJobAge=10
MaxArraySize=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n1 NodeHostname=$(hostname -s) Port=$(free_port) CPUs=1 RealMemory=4000
NodeName=n2 NodeHostname=$(hostname -s) Port=$(free_port) CPUs=1 RealMemory=4000
PartitionName=plain Nodes=n1,n2 Default=YES PriorityTier=1
PartitionName=urgent Nodes=n1,n2 PriorityTier=2
CONF
  slurmctld
  node n1
  node n2
  for _ in $(seq 100); do
    [ "$(sinfo --noheader --partition plain --states idle --format %D)" = 2 ] && return
    sleep 0.2
  done
  cat "$folder"/*.log
  return 1
}

node() { slurmd -N "$1"; }

die() {
  kill -9 "$(cat "$folder/$1.pid")"
  for process in /proc/[0-9]*; do
    if { tr '\0' '\n' < "$process/environ"; } 2> /dev/null | grep -qx "SLURMD_NODENAME=$1"; then
      parent=$(awk '{print $4}' "$process/stat")
      case $(cat "/proc/$parent/comm") in slurmstepd) kill -9 "$parent" ;; esac
      kill -9 "${process#/proc/}" || true
    fi
  done
}

stop() {
  die n1
  die n2
  kill -9 "$(cat "$folder/slurmctld.pid")"
}

"$1" "${@:3}"
