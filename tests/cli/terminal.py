"""A command on a pseudo-terminal, for the golden scripts: run() here, or `python3 terminal.py COLUMNS ARGUMENT...`.

The end of the terminal that the command writes to stays open here until everything was read. If the command were the last to
close it, Linux could report the end before what was written last has arrived at our side: the reader finds nothing, the command
writes and closes, and the reader then looks at "closed" before the kernel's worker has delivered the text. So the end is marked
by a byte that we write ourselves, behind everything of the command.
"""

import fcntl, os, select, struct, sys, termios

END = b"\x04"


def run(arguments, columns=80, key=None, when=lambda shown: True, messages=True):
    """What `assay ARGUMENTS` wrote, and how it ended, as os.waitpid tells it. `key` is pressed once `when(what was written)`
    holds. Without `messages`, its standard error goes elsewhere."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.login_tty(theirs) if hasattr(os, "login_tty") else become_terminal(theirs)
        if not messages:
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execv(os.environ["ASSAY"], ["assay", *arguments])
    shown, status = b"", None
    while not shown.endswith(END):
        if select.select([ours], [], [], 0.01)[0]:
            shown += os.read(ours, 65536)
        if key is not None and when(shown):
            os.write(ours, key)
            key = None
        if status is None:
            ended, how = os.waitpid(child, os.WNOHANG)
            if ended == child:
                status = how
                os.write(theirs, END)
    os.close(ours)
    os.close(theirs)
    return shown[: -len(END)].decode(), status


def become_terminal(end):
    """What os.login_tty does since Python 3.11."""
    os.setsid()
    fcntl.ioctl(end, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(end, stream)


if __name__ == "__main__":
    text, status = run(sys.argv[2:], columns=int(sys.argv[1]))
    if os.WIFSIGNALED(status):
        print("ended by signal", os.WTERMSIG(status), "after:", text, file=sys.stderr)
    sys.stdout.write(text.replace("\r\n", "\n").replace("\033", "^"))
