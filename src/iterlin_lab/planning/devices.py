"""Devices that `iterlin plan --device` knows: their peak rates, as the data sheets of their maker have them."""

from typing import NamedTuple


class Device(NamedTuple):
    """Operations a second of dense products by `precision` of params.yaml, bytes a second from memory, and its size."""

    title: str
    source: str
    float64: float  # outside tensor cores
    float32: float  # outside tensor cores
    tensorfloat32: float
    bfloat16: float
    bandwidth: float
    memory: float


# Data sheets print the rates of tensor cores with sparsity, which doubles them; here they are dense.
DEVICES = {
    "h100": Device("H100 SXM, 80 GB", "NVIDIA H100 data sheet", 34e12, 67e12, 494e12, 989e12, 3.35e12, 80e9),
    "h200": Device("H200 SXM, 141 GB", "NVIDIA H200 data sheet", 34e12, 67e12, 494e12, 989e12, 4.8e12, 141e9),
    "a100": Device("A100 SXM, 80 GB", "NVIDIA A100 data sheet", 9.7e12, 19.5e12, 156e12, 312e12, 2.039e12, 80e9),
    "rtx3090": Device("RTX 3090", "NVIDIA GA102 white paper", 0.556e12, 35.6e12, 35.6e12, 71e12, 0.936e12, 24e9),
}
