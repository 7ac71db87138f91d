import pytest


@pytest.fixture
def written(tmp_path):
    """A function that writes files, given by name and content, into one folder; recordings may be empty."""

    def write(contents):
        for name, content in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write
