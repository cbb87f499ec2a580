"""python3 -m assay: runs the command `assay`, from the build folder or as it is installed."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
COMPAT = os.path.join(HERE, "compat")


def find_command():
    """The path of the command in the build folder that contains this package, or else of the installed command."""
    built = os.path.join(HERE, os.pardir, os.pardir, "assay")
    if os.path.isfile(built) and os.access(built, os.X_OK):
        return os.path.abspath(built)
    return shutil.which("assay")


def print_compat_path(arguments):
    asks_for_help = arguments in (["-h"], ["--help"])
    if not arguments:
        print(COMPAT)
    else:
        print("usage: python3 -m assay compat-path\n\nPrints the folder that offers the import paths of older tools, for PYTHONPATH.",
              file=sys.stdout if asks_for_help else sys.stderr)
    return 64 if arguments and not asks_for_help else 0         # EX_USAGE


def main(arguments):
    if arguments[:1] == ["compat-path"]:
        return print_compat_path(arguments[1:])
    if arguments[:1] == ["run"]:
        from assay._script import command_of
        arguments = command_of(arguments)
        if arguments is None:
            return 0
    command = find_command()
    if command is None:
        print("python3 -m assay: the command 'assay' is neither built nor installed (`make install`)", file=sys.stderr)
        return 69       # EX_UNAVAILABLE
    sys.stdout.flush()
    os.execv(command, ["assay", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
