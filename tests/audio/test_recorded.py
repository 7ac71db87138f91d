import io
import os
import struct
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from audioclass.audio.recorded import LONGEST_CHUNK, MOST_CHUNKS, MOST_METADATA, ClockRule
from audioclass.errors import UsageError

START = datetime(2019, 4, 3, 19, 17, 30)
TO_THE_MINUTE = START.replace(second=0)
NAMES = {
    "20190403_191730.WAV": START,
    "20190403_191730T.WAV": START,
    "243B1F055D1F4F31_20190403_191730.WAV": START,
    "5CA50ABC.WAV": datetime(2019, 4, 3, 19, 34, 20),
    "5CA50ABC.flac": datetime(2019, 4, 3, 19, 34, 20),
    "58680000.WAV": datetime(2016, 12, 31, 18, 59, 12),
    "PREFIX_20190403_191730.wav": START,
    "PREFIX_20190403$191730.wav": START,
    "PREFIX_0+1_20190403_191730_000.wav": START,
    "S4A00123_20190403_191730_20190403_201730.wav": START,
    "5146.190403191730.wav": START,
    "site_671379494.190403191730.wav": START,
    "2019-04-03T19:17:30.wav": START,
    "2019-04-03_19-17-30": START,
    "20190403-191730.wav": START,
    "2019-04-03 19.17.30.wav": START,
    "2019-04-03 - 19.17.30.wav": START,
    "2019-04-03 at 19.17.30.m4a": START,
    "2019_04_03_19_17_30.mp3": START,
    "2019.04.03.19.17.30.wav": START,
    "2019 04 03 19 17 30.wav": START,
    "2019-04-03_19h17m30s.wav": START,
    "20190403191730.wav": START,
    "rec20190403191730a.wav": START,
    "20190403_191730.3gp": START,
    "2019-04-03T19:17:30.25.wav": START.replace(microsecond=250000),
    "20190403T191730,123456789.wav": START.replace(microsecond=123456),
    "20190403_1917.wav": TO_THE_MINUTE,
    "2019-04-03_19-17.wav": TO_THE_MINUTE,
    "2019-04-03T19:17.wav": TO_THE_MINUTE,
    "2019-04-03 19h17.wav": TO_THE_MINUTE,
    "2019-04-03 19.17.mp3": TO_THE_MINUTE,
    "20191303_250000_20190403_191730.wav": START,
    "\udce9t\udce9_20190403_191730.wav": START,
    "20200229_000000.wav": datetime(2020, 2, 29),
}
NAMES_WITHOUT_TIME = [
    "", "a.wav", "20190403.wav", "2019-04-03.wav", "191730.wav", "20190403_19.wav", "201904031917.wav",
    "20191303_191730.wav", "20190230_191730.wav", "20190229_191730.wav", "20190403_250000.wav", "20190403_191760.wav",
    "2019-04-03_19-17-60.wav", "20190400_191730.wav", "120190403_191730.wav", "20190403_1917301.wav",
    "20190403_19173.wav", "2019-04-03_19-17-305.wav", "2019-04-03_19-17-3.wav", "201904031917300.wav",
    "2019-04_03_191730.wav", "30190403_191730.wav", "2019-04-0319:17:30.wav",
    "12345678.wav", "12345678.WAV", "58680000.wav", "20190403.WAV", "5ca50abc.wav", "5CA50ABC_1.WAV", "5CA50ABCD.WAV",
    "DEADBEEF.WAV", "0000000A.WAV", "5146.190403191760.wav", "5146.1904031917301.wav", "5146.990403191730.wav",
    "19700101_000005.WAV", "1-100032-A-0.wav", "٢٠١٩٠٤٠٣_١٩١٧٣٠.wav",
]  # fmt: skip
ZONES_IN_NAMES = {
    "2019-04-03T19:17:30Z.wav": 0,
    "20190403_191730z.wav": 0,
    "20190403_191730_UTC.wav": 0,
    "20190403T191730+0200.wav": 120,
    "20190403T191730+1000_Location [-27.4+152.9].wav": 600,
    "2019-04-03_19-17-30+02:00.wav": 120,
    "20190403T191730.250-0330.wav": -210,
    "20190403T191730-04.wav": -240,
    "20190403T1917-0400.wav": -240,
    "20190403_191730-0400.wav": -240,
    "20190403_191730 UTC+5:30.wav": 330,
}
NOT_ZONES = [
    "20190403_191730-0001.wav", "20190403_191730-0030.wav", "20190403_191730-04.wav", "20190403_1917-1100.wav",
    "20190403_191730-201730.wav", "20190403_191730+9900.wav", "20190403_191730Zoom.wav",
]  # fmt: skip
COMMENT = (
    "Recorded at 19:17:30 03/04/2019{} by AudioMoth 243B1F055D1F4F31 at gain setting 2 while battery state was 4.2V."
)


def find(name, **rule):
    return ClockRule(**rule).find(Path(name))


def chunk(name, data, size=None):
    return name + struct.pack("<I", len(data) if size is None else size) + data + bytes(len(data) % 2)


def wav(*chunks, form=b"RIFF"):
    return form + struct.pack("<I", 4 + sum(map(len, chunks))) + b"WAVE" + b"".join(chunks)


def guano(time):
    return chunk(b"guan", f"GUANO|Version: 1.0\nMake: Timestamp: no\n Timestamp : {time} \r\nNote: é\n\0".encode())


def bwf(date=b"2019-04-03", clock=b"19:17:30"):
    return chunk(b"bext", bytes(320) + date.ljust(10, b"\0") + clock.ljust(8, b"\0") + bytes(264))


def audiomoth(text):
    return chunk(b"LIST", b"INFO" + chunk(b"IART", b"AudioMoth\0") + chunk(b"ICMT", text.encode().ljust(384, b"\0")))


FORMAT = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
SAMPLES = chunk(b"data", bytes(3))


@pytest.fixture
def read(tmp_path):
    """What is found in a file that holds these bytes, by its metadata or a name."""

    def read_bytes(data, name="a.wav", **rule):
        path = tmp_path / name
        path.write_bytes(data)
        return ClockRule(**rule).find(path)

    return read_bytes


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_tells_the_time(name):
    recorded = find(name)
    assert (recorded.at, recorded.offset, recorded.source) == (NAMES[name].replace(tzinfo=UTC), timedelta(0), "name")


@pytest.mark.parametrize("name", NAMES_WITHOUT_TIME)
def test_a_name_without_a_possible_time_tells_none(name):
    assert find(name) is None


@pytest.mark.parametrize("name", ZONES_IN_NAMES)
def test_the_zone_of_a_name_wins_over_the_rule(name):
    recorded = find(name, timezone="+09:00")
    written = recorded.at.astimezone(timezone(timedelta(minutes=ZONES_IN_NAMES[name])))
    assert written.replace(tzinfo=None, second=0, microsecond=0) == TO_THE_MINUTE


@pytest.mark.parametrize("name", NOT_ZONES)
def test_other_numbers_behind_a_time_are_no_zone(name):
    assert find(name, timezone="+09:00").local.replace(second=0) == TO_THE_MINUTE


@given(
    time=st.datetimes(datetime(1971, 1, 1), datetime(2099, 12, 31)).map(lambda time: time.replace(microsecond=0)),
    form=st.sampled_from(
        ["%Y%m%d_%H%M%S", "%Y-%m-%dT%H:%M:%S", "x%Y%m%d$%H%M%S_000", "%Y%m%d%H%M%S", "%Y-%m-%d %Hh%Mm%S"]
    ),
    zone=st.sampled_from(["UTC", "+05:45", "-03"]),
)
def test_a_time_that_is_written_is_found(time, form, zone):
    assert find(time.strftime(form) + ".wav", timezone=zone).local == time
    assert find("a.wav", timezone=zone, pattern=form) is None
    assert find(time.strftime(f"12-{form}-1.wav"), timezone=zone, pattern=form).local == time


@given(st.text(st.sampled_from("0123456789-_.:T Z+$hms\udce9é٣"), max_size=40) | st.text(max_size=40))
def test_no_name_is_too_odd(name):
    recorded = find(name)
    assert recorded is None or recorded.source == "name"


@pytest.mark.parametrize(
    ("pattern", "name", "time"),
    [
        ("%d-%m-%Y %Hh%M", "pond 03-04-2019 19h17.wav", TO_THE_MINUTE),
        ("%d-%m-%Y %Hh%M", "pond 3-4-2019 19h17.wav", TO_THE_MINUTE),
        ("%d%m%Y_%H%M%S", "A_03042019_191730.wav", START),
        ("_%Y%m%d_%H%M%S", "5146_20190403_191730.wav", START),
        ("%y%m%d_%H%M", "190403_1917.wav", TO_THE_MINUTE),
        ("%d %B %Y, %I.%M %p", "03 April 2019, 07.17 pm.wav", TO_THE_MINUTE),
        ("%Y-%j %H%M%S.%f", "2019-093 191730.5.wav", START.replace(microsecond=500000)),
        ("%Y%%%m%%%d %H", "2019%04%03 19.wav", START.replace(minute=0, second=0)),
        ("%Y%m%d_%H%M%S%z", "20190403_211730+0200.wav", START),
        ("%d-%m-%Y %Hh%M", "31-02-2019 19h17, 03-04-2019 19h17.wav", TO_THE_MINUTE),
    ],
)
def test_a_pattern_is_searched_for_in_names(pattern, name, time):
    assert find(name, pattern=pattern).at == time.replace(tzinfo=UTC)


@pytest.mark.parametrize("name", ["31-02-2019 19h17", "103-04-2019 19h17", "03-04-2019 19h170", "03-04-2019 25h17"])
def test_a_pattern_matches_no_impossible_time_and_no_longer_number(name):
    assert find(name, pattern="%d-%m-%Y %Hh%M") is None


def test_a_pattern_wins_over_metadata_and_over_other_forms(read):
    data = wav(FORMAT, guano("2021-01-01T00:00:00Z"), SAMPLES)
    assert read(data, "03042019_191730.wav", pattern="%d%m%Y_%H%M%S").at == START.replace(tzinfo=UTC)
    assert read(data, "20200101_000000.wav", pattern="%d%m%Y_%H%M%S").source == "guano"
    assert read(b"", "20200101_000000.wav", pattern="%d%m%Y_%H%M%S") is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("%Y%m%d_%Q", r"time pattern '%Y%m%d_%Q': unknown directive '%Q'; known: %Y .* %%"),
        ("%Y%m%d_%H%", "unknown directive '%'"),
        ("%Y%m%d_%H%H", "'%H' must not stand twice"),
        ("%Y-%m-%d", "time pattern '%Y-%m-%d' must hold a year, a month, a day and an hour"),
        ("", "must hold a year"),
        ("%Y%m%d %I", "'%I' and '%p' must stand together"),
    ],
)
def test_a_wrong_pattern_is_reported(pattern, message):
    with pytest.raises(UsageError, match=message):
        ClockRule(pattern)


@pytest.mark.parametrize(
    ("local", "zone", "utc", "offset"),
    [
        ("20190403_191730", "Europe/Paris", "2019-04-03T17:17:30", 2),
        ("20190103_191730", "Europe/Paris", "2019-01-03T18:17:30", 1),
        ("20190403_191730", "+01:00", "2019-04-03T18:17:30", 1),
        ("20190403_191730", "-0330", "2019-04-03T22:47:30", -3.5),
        ("20190403_191730", "UTC+2", "2019-04-03T17:17:30", 2),
        ("20191027_023000", "Europe/Paris", "2019-10-27T00:30:00", 2),  # twice that night: the first
        ("20190331_023000", "Europe/Paris", "2019-03-31T01:30:00", 2),  # never: half past three
        ("20190403_191730Z", "Europe/Paris", "2019-04-03T19:17:30", 2),  # UTC is not where the recorder stood
        ("20190403_191730+0300", "Europe/Paris", "2019-04-03T16:17:30", 3),
        ("5CA50ABC", "America/New_York", "2019-04-03T19:34:20", -4),
    ],
)
def test_local_times_are_placed_by_the_zone(local, zone, utc, offset):
    recorded = find(local, timezone=zone)
    assert recorded.at == datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert recorded.offset == timedelta(hours=offset)
    assert recorded.local == datetime.fromisoformat(utc) + timedelta(hours=offset)


def test_a_time_that_clocks_skip_is_shifted():
    assert find("20190331_023000", timezone="Europe/Paris").local == datetime(2019, 3, 31, 3, 30)


@pytest.mark.parametrize(
    "zone", ["Mars/Base", "Europe", "", "../UTC", "+25:00", "+01:75", "tzdata.zi", "a\0b", "\ud800"]
)
def test_an_unknown_zone_is_reported_in_one_line(zone):
    with pytest.raises(UsageError, match="^unknown time zone .* must be an IANA name .* or an offset") as caught:
        ClockRule(timezone=zone)
    assert "\n" not in str(caught.value)


def test_a_misspelt_zone_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="unknown time zone 'Europe/Pariss'; did you mean 'Europe/Paris'"):
        ClockRule(timezone="Europe/Pariss")


def test_a_machine_without_zones_says_so():
    code = (
        "import sys; sys.modules['tzdata'] = None; from audioclass.audio.recorded import ClockRule; "
        "ClockRule(timezone='UTC'), ClockRule(timezone='+01:00'); ClockRule(timezone='Europe/Paris')"
    )
    environment = {**os.environ, "PYTHONTZPATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "time zone 'Europe/Paris': this machine has no time zone data; install the package tzdata" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "2019-04-03T19:17:30", "2019-04-03 19:17:30", " 20190403T191730 ", "2019-04-03T19:17:30.000", "20190403 191730",
        "2019-04-03T21:17:30+02:00", "2019-04-03 21:17:30 +0200", "2019-04-03T19:17:30Z", "2019-04-03 19:17:30 UTC",
        "2019-04-03T15:17:30,0000000-04", "2019-04-03t19:17:30z",
    ],
)  # fmt: skip
def test_a_table_states_times_in_iso_8601(text):
    recorded = ClockRule().parse(text)
    assert (recorded.at, recorded.source) == (START.replace(tzinfo=UTC), "table")


def test_a_time_of_a_table_without_a_zone_is_local():
    recorded = ClockRule(timezone="Europe/Paris").parse("2019-04-03 19:17")
    assert (recorded.local, recorded.offset) == (TO_THE_MINUTE, timedelta(hours=2))


@given(
    st.datetimes(
        datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.none() | st.just(timezone(timedelta(hours=-5)))
    )
)
def test_what_datetime_writes_is_parsed(time):
    expected = time if time.tzinfo else time.replace(tzinfo=UTC)
    assert ClockRule().parse(time.isoformat(timespec="microseconds")).at == expected
    assert ClockRule().parse(str(expected)).at == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2019-04-03", "20190403", "19:17:30", "03/04/2019 19:17", "2019-13-03 19:17",
        "2019-02-30 19:17", "2019-04-03 25:17", "2019-04-03T19:17:30+25:00", "2019-04-03T19:17:30 Europe/Paris",
        "٢٠١٩-04-03 19:17", "0001-01-01T00:00:00+02:00", "2019-04-03\n19:17", "2019-04-03 19:17" + "0" * 100000,
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_other_texts_are_reported_in_one_line(text):
    with pytest.raises(
        UsageError, match="^start time '.*' must be a date and a time such as 2019-04-03T19:17:30"
    ) as caught:
        ClockRule().parse(text)
    assert len(str(caught.value)) < 200


@given(
    st.text()
    | st.text("0123456789-:T+Z. ")
    | st.from_regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d([+-]\d\d:\d\d)?", fullmatch=True)
)
def test_no_text_is_too_odd(text):
    with suppress(UsageError):
        assert ClockRule(timezone="Asia/Kathmandu").parse(text).at.tzinfo is UTC


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("2019-04-03T19:17:30", START),
        ("2019-04-03 19:17:30.5", START.replace(microsecond=500000)),
        ("2019-04-03T19:17:30Z", START),
        ("2019-04-03T23:17:30+04:00", START),
        ("2019-04-03T15:17:30.000000-04:00", START),
    ],
)
def test_guano_tells_the_time(read, time, utc):
    recorded = read(wav(FORMAT, SAMPLES, guano(time)))
    assert (recorded.at, recorded.source) == (utc.replace(tzinfo=UTC), "guano")


@pytest.mark.parametrize(
    ("zone", "hours"),
    [(" (UTC)", 0), ("", 0), (" (UTC+2)", 2), (" (UTC-10)", -10), (" (UTC+5:30)", 5.5), (" (UTC-0:30)", -0.5)],
)
def test_the_comment_of_audiomoth_tells_the_time(read, zone, hours):
    recorded = read(wav(FORMAT, audiomoth(COMMENT.format(zone)), SAMPLES))
    assert recorded.at == START.replace(tzinfo=UTC) - timedelta(hours=hours)
    assert (recorded.offset, recorded.source) == (timedelta(hours=hours), "audiomoth")


def test_newer_comments_of_audiomoth_tell_the_time(read):
    comment = "Recorded at 19:17:30.250 03/04/2019 (UTC+2) during deployment 0123456789ABCDEF by AudioMoth."
    assert read(wav(FORMAT, audiomoth(comment), SAMPLES)).local == START.replace(microsecond=250000)


@pytest.mark.parametrize(
    "text",
    [
        "Recorded at 19:17:30 03/04/2019 by somebody", "Recorded at 19:17:30 31/02/2019 (UTC) by AudioMoth",
        "Recorded at 19:17:30 03/04/2019 (UTC+99) by AudioMoth", "Recorded at 00:00:05 01/01/1970 (UTC) by AudioMoth",
    ],
)  # fmt: skip
def test_other_comments_tell_none(read, text):
    assert read(wav(FORMAT, audiomoth(text), SAMPLES)) is None


@pytest.mark.parametrize("mark", [b"-", b"_", b":", b".", b" ", b"/"])
def test_bwf_tells_the_local_time(read, mark):
    data = wav(bwf(b"2019-04-03".replace(b"-", mark), b"19:17:30".replace(b":", mark)), FORMAT, SAMPLES)
    recorded = read(data, timezone="Europe/Paris")
    assert (recorded.local, recorded.offset, recorded.source) == (START, timedelta(hours=2), "bwf")


@pytest.mark.parametrize(
    ("date", "clock"),
    [
        (b"", b""),
        (b"2019-04-03", b""),
        (b"0000-00-00", b"00:00:00"),
        (b"2019-02-30", b"19:17:30"),
        (b"1970-01-01", b"00:00:09"),
    ],
)
def test_an_empty_or_impossible_bwf_leaves_it_to_the_name(read, date, clock):
    assert read(wav(bwf(date, clock), FORMAT, SAMPLES), "20190403_191730.wav").source == "name"


def test_what_states_its_zone_is_trusted_first_wherever_it_stands(read):
    chunks = [bwf(), audiomoth(COMMENT.format(" (UTC)")), SAMPLES, guano("2019-04-03T19:17:30+02:00")]
    sources = [read(wav(FORMAT, *chunks[:n]), "20200101_000000.wav").source for n in range(5)]
    assert sources == ["name", "bwf", "audiomoth", "audiomoth", "guano"]


@pytest.mark.parametrize("form", [b"RF64", b"BW64"])
def test_sizes_of_64_bits_are_followed(read, form):
    sizes = struct.pack("<QQQI4sQ", 0, 3, 0, 1, b"junk", 5)
    long_chunks = chunk(b"data", bytes(3), 0xFFFFFFFF), chunk(b"junk", bytes(5), 0xFFFFFFFF)
    assert read(wav(chunk(b"ds64", sizes), FORMAT, *long_chunks, bwf(), form=form)).source == "bwf"


def test_w64_is_followed(read, tmp_path):
    soundfile.write(tmp_path / "b.w64", np.zeros(101), 8000, format="W64", subtype="PCM_16")
    data = (tmp_path / "b.w64").read_bytes()
    data += bytes(-len(data) % 8) + b"guan" + bytes(12) + struct.pack("<Q", 24 + 30) + b"Timestamp: 2019-04-03T19:17:30"
    assert read(data).source == "guano"


@pytest.mark.parametrize("options", [{}, {"rf64": "always"}], ids=["RIFF", "RF64"])
def test_what_ffmpeg_writes_is_read(read, options):
    file = io.BytesIO()
    with av.open(file, "w", format="wav", options={"write_bext": "1", **options}) as container:
        container.metadata.update(origination_date="2019-04-03", origination_time="19:17:30", comment="none")
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 101), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    recorded = read(file.getvalue())
    assert (recorded.local, recorded.source) == (START, "bwf")


@pytest.mark.parametrize("container", ["WAV", "RF64"])
def test_the_comment_that_libsndfile_writes_is_read(tmp_path, container):
    with soundfile.SoundFile(tmp_path / "a", "w", 8000, 1, format=container, subtype="PCM_U8") as file:
        file.comment = COMMENT.format(" (UTC+2)")
        file.write(np.zeros(101))
    assert find(tmp_path / "a").source == "audiomoth"


GOOD = wav(FORMAT, audiomoth(COMMENT.format(" (UTC)")), SAMPLES, bwf(), guano("2019-04-03T19:17:30"))
damaged = st.tuples(st.integers(0, len(GOOD)), st.integers(0, 8), st.binary(max_size=8)).map(
    lambda cut: GOOD[: cut[0]] + cut[2] + GOOD[cut[0] + cut[1] :]
)
names = st.sampled_from([b"guan", b"LIST", b"bext", b"ds64", b"data"]) | st.binary(min_size=4, max_size=4)
lying = st.lists(
    st.builds(chunk, names, st.binary(max_size=40), st.none() | st.integers(0, 2**32 - 1)), max_size=9
).flatmap(lambda chunks: st.sampled_from([b"RIFF", b"RF64", b"BW64"]).map(lambda form: wav(*chunks, form=form)))
w64 = st.binary(max_size=200).map(lambda rest: b"riff" + bytes(20) + b"wave" + bytes(12) + rest)


@given(data=st.binary(max_size=200) | damaged | lying | w64)
def test_no_file_is_too_damaged(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.wav"
    path.write_bytes(data)
    recorded = ClockRule(timezone="Europe/Paris").find(path)
    assert recorded is None or recorded.source in ("guano", "audiomoth", "bwf")


@pytest.mark.parametrize("n_bytes", range(0, len(GOOD), 13))
def test_a_file_that_was_cut_is_read_as_far_as_it_goes(read, n_bytes):
    recorded = read(GOOD[:n_bytes])
    assert recorded is None or recorded.at.replace(tzinfo=None) == START


@pytest.mark.parametrize(
    "data",
    [
        b"", b"RIFF", b"fLaC" + GOOD, GOOD.replace(b"WAVE", b"AVI "), wav(chunk(b"guan", b"\xff\xfe" * 99)),
        wav(chunk(b"guan", b"Timestamp: " + b"9" * 9999)), wav(chunk(b"guan", b" " * LONGEST_CHUNK)),
        wav(chunk(b"guan", b"Timestamp: 0001-01-01T00:00:00+14:00")), wav(chunk(b"LIST", b"INFOICMT", 2**32 - 1)),
        wav(chunk(b"LIST", b"INFOICMT" + b"Recorded at 19:17:30 03/04/2019" * 2000)),
    ],
    ids=["empty", "head", "flac", "avi", "binary", "digits", "spaces", "first day", "huge", "long"],
)  # fmt: skip
def test_other_files_tell_none(read, data):
    assert read(data) is None


def test_what_is_no_file_tells_none(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "b.wav").symlink_to("b.wav")
    odd = [
        tmp_path,
        tmp_path / "missing.wav",
        tmp_path / "pipe.wav",
        tmp_path / "b.wav",
        Path("a\0.wav"),
        Path("\ud800"),
    ]
    assert [find(path) for path in [*odd, tmp_path / ("a" * 5000)]] == [None] * 7


def test_a_name_that_is_no_utf_8_is_opened(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xe9t\xe9.wav"))
    path.write_bytes(GOOD)
    assert find(path).source == "guano"


@pytest.mark.parametrize(
    "data",
    [
        wav(*[chunk(b"LIST", bytes(LONGEST_CHUNK))] * 40),
        wav(chunk(b"guan", bytes(3 * MOST_METADATA))),
        wav(*[chunk(b"junk", b"")] * 3 * MOST_CHUNKS),
        wav(FORMAT, chunk(b"data", bytes(4 * MOST_METADATA)), bwf()),
    ],
    ids=["many lists", "long text", "many chunks", "samples"],
)
def test_little_of_a_file_is_read(tmp_path, monkeypatch, data):
    amounts = []

    class Counted(io.FileIO):
        def read(self, n_bytes=-1):
            amounts.append(n_bytes)
            return super().read(n_bytes)

    (tmp_path / "a.wav").write_bytes(data)
    monkeypatch.setattr(Path, "open", lambda path, mode, buffering: Counted(path, mode))
    find(tmp_path / "a.wav")
    assert min(amounts) >= 0
    assert sum(amounts) <= MOST_METADATA + 8 * MOST_CHUNKS + 40


def test_samples_of_many_gibibytes_are_stepped_over(tmp_path):
    path = tmp_path / "a.wav"
    n_bytes = 6 << 30
    with path.open("wb") as file:  # a hole, which takes no room
        file.write(wav(chunk(b"ds64", struct.pack("<QQQI", 0, n_bytes, 0, 0)), FORMAT, form=b"RF64"))
        file.write(b"data" + struct.pack("<I", 0xFFFFFFFF))
        file.seek(n_bytes, os.SEEK_CUR)
        file.write(guano("2019-04-03T19:17:30"))
    assert find(path).source == "guano"
