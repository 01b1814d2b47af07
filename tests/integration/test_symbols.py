"""What the program's files name for each other says whose it is: nai_..., and nai_gen_... in the generator."""
import pathlib
import re
import shutil
import subprocess
import unittest

import support

OBJECTS = support.BUILD / "CMakeFiles"


@support.unsanitized("sanitizers add symbols of their own")
@unittest.skipUnless(shutil.which("nm"), "no nm")
class Prefixes(unittest.TestCase):
    def unprefixed(self, pattern, prefix):
        objects = [path for path in OBJECTS.glob("*.dir/**/*.o") if re.search(pattern, path.as_posix())]
        self.assertGreater(len(objects), 20)
        done = subprocess.run(["nm", "--extern-only", "--defined-only", "--format=posix", "--print-file-name", *objects],
                              capture_output=True, text=True, check=True)
        symbols = [re.match(r"(.*): (\S+) ", line).groups() for line in done.stdout.splitlines()]
        self.assertGreater(len(symbols), len(objects) // 2)
        return [f"{pathlib.Path(path).name}: {symbol}" for path, symbol in symbols
                if symbol != "main" and not symbol.startswith(prefix)]

    def test_program(self):
        self.assertEqual(self.unprefixed(r"\.dir/src/", "nai_"), [])

    def test_generator(self):
        self.assertEqual(self.unprefixed(r"/tests/gen/", "nai_gen_"), [])


if __name__ == "__main__":
    support.main()
