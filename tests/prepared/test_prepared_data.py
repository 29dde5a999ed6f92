"""MNIST and CIFAR-10 as TFDS has prepared them in TFDS_DATA_DIR, which are not ours to ship: `make test-data`."""

import pytest

from tests.test_data import as_described


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_a_data_set_is_what_its_entry_and_its_card_say(name):
    assert as_described(name)
