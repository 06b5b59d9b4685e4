"""Datasets: lists of data buffers, with descriptions of their real shapes."""

import pytest
from helpers.expect import handle_of, refused

import acl

mdl = acl.mdl


dataset = handle_of(mdl.create_dataset, mdl.destroy_dataset)


@pytest.fixture
def buffers():
    """Make three data buffers that refer to nothing."""
    made = [acl.create_data_buffer(0, 0) for _ in range(3)]
    yield made
    for buffer in made:
        assert acl.destroy_data_buffer(buffer) == 0


def test_buffers_in_order(dataset, buffers):
    assert mdl.get_dataset_num_buffers(dataset) == 0
    for buffer in buffers * 4:
        assert mdl.add_dataset_buffer(dataset, buffer) == (dataset, 0)
    assert mdl.get_dataset_num_buffers(dataset) == 12
    assert [mdl.get_dataset_buffer(dataset, i) for i in range(12)] == buffers * 4
    assert mdl.get_dataset_buffer(dataset, 12) == 0


def test_destroying_leaves_the_buffers(buffers):
    dataset = mdl.create_dataset()
    for buffer in buffers:
        mdl.add_dataset_buffer(dataset, buffer)
    assert mdl.destroy_dataset(dataset) == 0
    assert [acl.update_data_buffer(buffer, 0, 8) for buffer in buffers] == [0, 0, 0]


def test_descriptions_are_copies(dataset, buffers):
    mdl.add_dataset_buffer(dataset, buffers[0])
    assert mdl.get_dataset_tensor_desc(dataset, 0) == 0
    desc = acl.create_tensor_desc(3, [2, 3], 2)
    acl.set_tensor_desc_name(desc, "x")
    assert mdl.set_dataset_tensor_desc(dataset, desc, 0) == (dataset, 0)
    acl.destroy_tensor_desc(desc)
    kept = mdl.get_dataset_tensor_desc(dataset, 0)
    assert kept not in (0, desc)
    assert acl.get_tensor_desc_type(kept) == 3 and acl.get_tensor_desc_size(kept) == 24
    assert [acl.get_tensor_desc_dim_v2(kept, i) for i in range(2)] == [(2, 0), (3, 0)]
    assert acl.get_tensor_desc_name(kept) == "x"
    other = acl.create_tensor_desc(0, [5], 2)
    assert mdl.set_dataset_tensor_desc(dataset, other, 0) == (dataset, 0)
    assert acl.get_tensor_desc_size(mdl.get_dataset_tensor_desc(dataset, 0)) == 20
    acl.destroy_tensor_desc(other)


@pytest.mark.strict
def test_no_description_takes_the_kept_one_away(dataset, buffers):
    mdl.add_dataset_buffer(dataset, buffers[0])
    desc = acl.create_tensor_desc(3, [2, 3], 2)
    assert mdl.set_dataset_tensor_desc(dataset, desc, 0) == (dataset, 0)
    kept = mdl.get_dataset_tensor_desc(dataset, 0)
    assert mdl.set_dataset_tensor_desc(dataset, 0, 0) == (dataset, 0)
    assert mdl.get_dataset_tensor_desc(dataset, 0) == 0
    assert acl.get_tensor_desc_size(kept) == 0
    acl.destroy_tensor_desc(desc)


def test_null(dataset, buffers):
    refused(mdl.destroy_dataset(0), 100000, "aclmdlDestroyDataset", "dataset is NULL")
    refused(mdl.add_dataset_buffer(0, buffers[0])[1], 100000, "aclmdlAddDatasetBuffer", "dataset is NULL")
    refused(mdl.add_dataset_buffer(dataset, 0)[1], 100000, "aclmdlAddDatasetBuffer", "dataBuffer is NULL")
    assert mdl.get_dataset_num_buffers(0) == 0
    assert mdl.get_dataset_buffer(0, 0) == 0
    assert mdl.get_dataset_tensor_desc(0, 0) == 0
    desc = acl.create_tensor_desc(3, [2, 3], 2)
    refused(mdl.set_dataset_tensor_desc(0, desc, 0)[1], 100000, "aclmdlSetDatasetTensorDesc", "dataset is NULL")
    refused(mdl.set_dataset_tensor_desc(dataset, desc, 0)[1], 100000, "index is 0", "less than 0")
    acl.destroy_tensor_desc(desc)


@pytest.mark.strict
def test_dead_handles(buffers):
    dataset = mdl.create_dataset()
    mdl.add_dataset_buffer(dataset, buffers[0])
    assert mdl.destroy_dataset(dataset) == 0
    refused(mdl.destroy_dataset(dataset), 100000, "a destroyed dataset")
    assert mdl.get_dataset_num_buffers(dataset) == 0
    refused(mdl.add_dataset_buffer(buffers[0], buffers[1])[1], 100000, "a live data buffer", "expected a live dataset")


@pytest.mark.needs_sim
def test_live_handles_are_counted(buffers):
    kinds = None, "dataset", "data buffer"
    before = [acl.sim.live(kind) for kind in kinds]
    made = [mdl.create_dataset() for _ in range(5)]
    assert [acl.sim.live(kind) for kind in kinds] == [before[0] + 5, before[1] + 5, before[2]]
    for dataset in made:
        assert mdl.destroy_dataset(dataset) == 0
    assert mdl.destroy_dataset(made[0]) == 100000
    assert [acl.sim.live(kind) for kind in kinds] == before
    assert before[2] >= 3
