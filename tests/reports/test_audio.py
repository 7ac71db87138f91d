import base64

from audioclass.reports.audio import audio_address


def test_a_small_recording_is_part_of_the_page(tmp_path):
    recording = tmp_path / "a.WAV"
    recording.write_bytes(b"RIFF")
    address = audio_address(recording, tmp_path / "page.html")
    assert address == "data:audio/wav;base64," + base64.b64encode(b"RIFF").decode()


def test_a_large_one_is_linked_from_where_the_page_lies(tmp_path):
    recording = tmp_path / "é #1.wav"
    recording.write_bytes(b"RIFF")
    (tmp_path / "pages").mkdir()
    assert audio_address(recording, tmp_path / "pages" / "p.html", embed_up_to=3) == "../%C3%A9%20%231.wav"


def test_what_browsers_do_not_play_is_linked(tmp_path):
    recording = tmp_path / "a.au"
    recording.write_bytes(b"")
    assert audio_address(recording, tmp_path / "page.html") == "a.au"


def test_a_name_that_is_no_text_is_linked_by_its_bytes(tmp_path):
    recording = tmp_path / "caf\udce9.wav"
    recording.write_bytes(b"RIFF")
    assert audio_address(recording, tmp_path / "page.html", embed_up_to=0) == "caf%E9.wav"
