# Untested: Spack itself was not at hand. docs/packaging.md says how to use it.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class NsysAi(CMakePackage):
    """Batch report generator for NVIDIA Nsight Systems traces."""

    homepage = "https://github.com/OWNER/nsys-ai"
    git = "https://github.com/OWNER/nsys-ai.git"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite")
    depends_on("libyaml")
    depends_on("libcsv")
    depends_on("cmark")
    depends_on("jansson")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("pcre2")
    depends_on("ncurses")

    conflicts("platform=darwin", msg="nsys-ai is for Linux")
    conflicts("platform=windows", msg="nsys-ai is for Linux")
    generator("ninja")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False), self.define("NAI_HARDEN", True)]
