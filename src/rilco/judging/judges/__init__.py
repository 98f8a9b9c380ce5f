"""One module a judge. Each is a pure function: prepared demonstrations in, an opinion out."""
