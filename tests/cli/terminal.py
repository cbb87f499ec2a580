"""A command on a pseudo-terminal, for the golden scripts: run() here, or `python3 terminal.py COLUMNS ARGUMENT...`.

The command's end of the terminal stays open here until everything was read. If the command were the last to close it, Linux could lose
its last text. The reader would find no text and be about to look whether the terminal is closed. The command would write its text and
close the terminal. The reader would then see that the terminal is closed, while the text is still on its way through the kernel. So we
write a byte of our own behind the text of the command, and read until that byte.
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
