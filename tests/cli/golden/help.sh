show help
show run --help
show bench --help
show help journal
show report -h
show doctor --help
show --version | mask
