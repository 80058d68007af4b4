"""SplitMix64 (Steele, Lea and Flood 2014), for draws (V2) and hashed routes (F1.1)."""

WORD_VALUES = 1 << 64


def splitmix(x: int) -> int:
    """Returns the generator's output for state `x`."""
    x = (x + 0x9E3779B97F4A7C15) % WORD_VALUES
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD_VALUES
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD_VALUES
    return x ^ x >> 31
