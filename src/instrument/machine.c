/* Describes the machine and the build by facts.
 *
 * A table has the keys and the functions that find their values. Such a function gives a value, or
 * the reason why there is none. The facts include everything that can explain the spread of a
 * figure: governor, turbo, SMT, virtualization, cgroup limits, huge pages, load. */
#include <ctype.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/level.h"
#include "base/text.h"
#include "instrument/proc.h"
#include "instrument/provenance.h"

enum { VALUE_BYTES = ASSAY__FACT_BYTES };

/* Finds one fact and writes it into `value`, which has VALUE_BYTES. Returns ASSAY_VALID, or why the
 * fact is missing. */
typedef assay_validity fact_finder(char *value);

typedef struct fact_row {
    const char *key;
    fact_finder *find;
} fact_row;

static void emit_facts(const fact_row *rows, size_t count, assay_fact_sink emit, void *context)
{
    for (size_t i = 0; i < count; i++) {
        char value[VALUE_BYTES] = "";
        assay_validity validity = rows[i].find(value);
        assay__text_make_printable(value);
        emit(context, rows[i].key, validity == ASSAY_VALID ? value : NULL, validity);
    }
}

ASSAY_PRINTF(2, 3) static assay_validity found(char *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, VALUE_BYTES, format, arguments);
    va_end(arguments);
    return ASSAY_VALID;
}

/* The first line of a small file. */
static assay_validity first_line(const char *path, char *value)
{
    assay_status status = assay__proc_read(path, value, VALUE_BYTES);
    value[strcspn(value, "\n")] = '\0';
    if (status == ASSAY_OK && value[0] == '\0')
        return ASSAY_UNSUPPORTED;
    return assay__proc_validity(status);
}

/* The text after "key<spaces>:" in the style of /proc/cpuinfo, up to the end of its line. */
static bool colon_field(const char *text, const char *key, char *value)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *colon = line + length + strspn(line + length, " \t");
        if (*colon != ':')
            continue;
        const char *start = colon + 1 + strspn(colon + 1, " \t");
        snprintf(value, VALUE_BYTES, "%.*s", (int)strcspn(start, "\n"), start);
        return value[0] != '\0';
    }
    return false;
}

static assay_validity find_hostname(char *value)
{
    if (gethostname(value, VALUE_BYTES - 1) != 0 || value[0] == '\0')
        return ASSAY_UNSUPPORTED;
    return ASSAY_VALID;
}

/* AArch64 kernels give two numbers of the register MIDR_EL1 instead of a name. The names here are
 * taken from the kernel's arch/arm64/include/asm/cputype.h, for servers and common boards. */
static bool arm_core_name(const char *text, char *value)
{
    static const struct {
        unsigned long implementer, part;
        const char *name;
    } cores[] = {
        {0x41, 0xd03, "Arm Cortex-A53"},  {0x41, 0xd07, "Arm Cortex-A57"},
        {0x41, 0xd08, "Arm Cortex-A72"},  {0x41, 0xd0b, "Arm Cortex-A76"},
        {0x41, 0xd0c, "Arm Neoverse-N1"}, {0x41, 0xd40, "Arm Neoverse-V1"},
        {0x41, 0xd49, "Arm Neoverse-N2"}, {0x41, 0xd4f, "Arm Neoverse-V2"},
        {0x46, 0x001, "Fujitsu A64FX"},   {0x48, 0xd01, "HiSilicon TSV110"},
        {0xc0, 0xac3, "Ampere-1"},        {0xc0, 0xac4, "Ampere-1A"},
    };
    char implementer[VALUE_BYTES], part[VALUE_BYTES];
    if (!colon_field(text, "CPU implementer", implementer) || !colon_field(text, "CPU part", part))
        return false;
    snprintf(value, VALUE_BYTES, "implementer %.16s, part %.16s", implementer, part);
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strtoul(implementer, NULL, 16) == cores[i].implementer &&
            strtoul(part, NULL, 16) == cores[i].part)
            snprintf(value, VALUE_BYTES, "%s", cores[i].name);
    return true;
}

bool assay__cpu_name(const char *cpuinfo, char value[ASSAY__FACT_BYTES])
{
    static const char *const keys[] = {"model name", "Hardware", "uarch", "cpu model", "Processor"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (colon_field(cpuinfo, keys[i], value))
            return true;
    return arm_core_name(cpuinfo, value);
}

static assay_validity find_cpu(char *value)
{
    char text[8192];
    assay_status status = assay__proc_read("/proc/cpuinfo", text, sizeof text);
    if (status != ASSAY_OK)
        return assay__proc_validity(status);
    return assay__cpu_name(text, value) ? ASSAY_VALID : ASSAY_UNSUPPORTED;
}

static assay_validity find_cores(char *value)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? found(value, "%ld", cores) : ASSAY_UNSUPPORTED;
}

/* The number of processors on which the scheduler may run this process; 0 if it is not known. */
static int affinity_cores(void)
{
    for (int size = 1024; size <= 1024 * 1024; size *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)size);
        if (set == NULL)
            return 0;
        size_t bytes = CPU_ALLOC_SIZE((size_t)size);
        int failed = sched_getaffinity(0, bytes, set);
        int number = errno;
        int count = failed == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (failed == 0 || number != EINVAL) /* EINVAL: the kernel's set is larger */
            return count;
    }
    return 0;
}

/* Find the directory of this process in the unified cgroup hierarchy; false if it has none. */
static bool cgroup_directory(char *directory, size_t capacity)
{
    char text[4096];
    if (assay__proc_read("/proc/self/cgroup", text, sizeof text) != ASSAY_OK)
        return false;
    const char *entry = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (entry == NULL)
        return false;
    entry = strstr(entry, "::") + 2;
    int length =
        snprintf(directory, capacity, "/sys/fs/cgroup%.*s", (int)strcspn(entry, "\n"), entry);
    return length > 0 && (size_t)length < capacity;
}

/* The number of processors whose time the cgroup of this process and its parents allow; 0: there is
 * no limit. */
static double quota_cores(void)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], text[128];
    double least = 0.0;
    if (!cgroup_directory(directory, sizeof directory))
        return 0.0;
    while (strlen(directory) >= strlen("/sys/fs/cgroup")) {
        double quota = 0.0, period = 0.0;
        snprintf(path, sizeof path, "%s/cpu.max", directory);
        if (assay__proc_read(path, text, sizeof text) == ASSAY_OK &&
            sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0.0 && period > 0.0 &&
            (least <= 0.0 || quota / period < least))
            least = quota / period;
        *strrchr(directory, '/') = '\0';
    }
    return least;
}

static assay_validity find_usable_cores(char *value)
{
    int allowed = affinity_cores();
    double quota = quota_cores();
    if (allowed <= 0)
        return ASSAY_UNSUPPORTED;
    if (quota > 0.0 && quota < (double)allowed)
        return found(value, "%.2f (cgroup limit; affinity %d)", quota, allowed);
    return found(value, "%d", allowed);
}

static assay_validity find_memory(char *value)
{
    char text[4096];
    uint64_t bytes = 0;
    assay_status status = assay__proc_read("/proc/meminfo", text, sizeof text);
    if (status != ASSAY_OK)
        return assay__proc_validity(status);
    if (!assay__proc_field(text, "MemTotal", &bytes))
        return ASSAY_UNSUPPORTED;
    return found(value, "%llu", (unsigned long long)bytes);
}

static assay_validity find_kernel(char *value)
{
    struct utsname name;
    if (uname(&name) != 0)
        return ASSAY_UNSUPPORTED;
    return found(value, "%s %s %s", name.sysname, name.release, name.machine);
}

static assay_validity find_os(char *value)
{
    char text[4096];
    assay_status status = assay__proc_read("/etc/os-release", text, sizeof text);
    if (status != ASSAY_OK)
        return assay__proc_validity(status);
    static const char key[] = "PRETTY_NAME=";
    const char *line = strstr(text, key);
    if (line == NULL || (line != text && line[-1] != '\n'))
        return ASSAY_UNSUPPORTED;
    line += strlen(key);
    size_t length = strcspn(line, "\n");
    if (length >= 2 && line[0] == '"' && line[length - 1] == '"') {
        line++;
        length -= 2;
    }
    return found(value, "%.*s", (int)length, line);
}

/* x86 processors have a flag that says whether they run under a hypervisor. The firmware names the
 * hypervisor. */
static assay_validity find_virtualization(char *value)
{
    char text[8192], flags[VALUE_BYTES * 8];
    assay_status status = assay__proc_read("/proc/cpuinfo", text, sizeof text);
    if (status != ASSAY_OK)
        return assay__proc_validity(status);
    const char *line = strstr(text, "\nflags");
    if (line == NULL)
        return ASSAY_UNSUPPORTED;
    snprintf(flags, sizeof flags, "%.*s ", (int)strcspn(line + 1, "\n"), line + 1);
    if (strstr(flags, " hypervisor ") == NULL)
        return found(value, "none");
    char vendor[VALUE_BYTES];
    if (first_line("/sys/class/dmi/id/sys_vendor", vendor) == ASSAY_VALID)
        return found(value, "virtual machine (%.200s)", vendor);
    return found(value, "virtual machine");
}

static assay_validity find_container(char *value)
{
    char text[4096];
    if (access("/.dockerenv", F_OK) == 0)
        return found(value, "docker");
    if (access("/run/.containerenv", F_OK) == 0)
        return found(value, "podman");
    if (getenv("KUBERNETES_SERVICE_HOST") != NULL)
        return found(value, "kubernetes");
    assay_status status = assay__proc_read("/proc/self/cgroup", text, sizeof text);
    if (status != ASSAY_OK)
        return assay__proc_validity(status);
    static const char *const hints[] = {"docker", "containerd", "kubepods", "lxc", "libpod"};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(text, hints[i]) != NULL)
            return found(value, "%s", hints[i]);
    return found(value, "none seen");
}

static assay_validity find_governor(char *value)
{
    return first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", value);
}

static assay_validity find_turbo(char *value)
{
    char text[VALUE_BYTES];
    assay_validity intel = first_line("/sys/devices/system/cpu/intel_pstate/no_turbo", text);
    if (intel == ASSAY_VALID)
        return found(value, "%s", text[0] == '0' ? "on" : "off");
    assay_validity generic = first_line("/sys/devices/system/cpu/cpufreq/boost", text);
    if (generic == ASSAY_VALID)
        return found(value, "%s", text[0] == '1' ? "on" : "off");
    return generic;
}

static assay_validity find_smt(char *value)
{
    char text[VALUE_BYTES];
    assay_validity validity = first_line("/sys/devices/system/cpu/smt/active", text);
    if (validity == ASSAY_VALID)
        found(value, "%s", text[0] == '1' ? "on" : "off");
    return validity;
}

/* Counts the nodes in a list such as "0-3,8". */
static assay_validity find_numa_nodes(char *value)
{
    char text[VALUE_BYTES];
    assay_validity validity = first_line("/sys/devices/system/node/online", text);
    if (validity != ASSAY_VALID)
        return validity;
    long nodes = 0;
    for (char *cursor = text; isdigit((unsigned char)*cursor);) {
        long first = strtol(cursor, &cursor, 10), last = first;
        if (*cursor == '-')
            last = strtol(cursor + 1, &cursor, 10);
        nodes += last - first + 1;
        cursor += *cursor == ',';
    }
    return nodes > 0 ? found(value, "%ld", nodes) : ASSAY_UNSUPPORTED;
}

/* The current setting is in brackets: "always [madvise] never". */
static assay_validity find_hugepages(char *value)
{
    char text[VALUE_BYTES];
    assay_validity validity = first_line("/sys/kernel/mm/transparent_hugepage/enabled", text);
    if (validity != ASSAY_VALID)
        return validity;
    const char *open = strchr(text, '[');
    if (open == NULL)
        return ASSAY_UNSUPPORTED;
    return found(value, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
}

/* The widest vector instructions of the processor. */
static assay_validity find_vector(char *value)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return found(value, "%s",
                 __builtin_cpu_supports("avx512f") ? "avx512"
                 : __builtin_cpu_supports("avx2")  ? "avx2"
                 : __builtin_cpu_supports("avx")   ? "avx"
                                                   : "sse2");
#elif defined(__aarch64__)
    enum { HAS_SVE = 1 << 22 }; /* HWCAP_SVE of asm/hwcap.h, which older headers lack */
    return found(value, "%s", (getauxval(AT_HWCAP) & HAS_SVE) != 0 ? "sve" : "neon");
#else
    (void)value;
    return ASSAY_UNSUPPORTED;
#endif
}

/* The level of vector instructions that the models use. */
static assay_validity find_level(char *value)
{
    const char *refused;
    const char *name = assay__level_name(assay__level_now(&refused));
    if (refused != NULL)
        return found(value, "%s (ASSAY_CPU=%.40s is no level of this machine)", name, refused);
    return found(value, "%s", name);
}

static assay_validity find_load(char *value)
{
    double load[3];
    if (getloadavg(load, 3) != 3)
        return ASSAY_UNSUPPORTED;
    return found(value, "%.2f %.2f %.2f", load[0], load[1], load[2]);
}

static assay_validity find_boot_id(char *value)
{
    return first_line("/proc/sys/kernel/random/boot_id", value);
}

void assay_machine_describe(assay_fact_sink emit, void *context)
{
    static const fact_row rows[] = {
        {"hostname", find_hostname},
        {"cpu", find_cpu},
        {"vector", find_vector},
        {"cpu_level", find_level},
        {"cores", find_cores},
        {"usable_cores", find_usable_cores},
        {"memory_bytes", find_memory},
        {"kernel", find_kernel},
        {"os", find_os},
        {"virtualization", find_virtualization},
        {"container", find_container},
        {"governor", find_governor},
        {"turbo", find_turbo},
        {"smt", find_smt},
        {"numa_nodes", find_numa_nodes},
        {"transparent_hugepages", find_hugepages},
        {"load_average", find_load},
        {"boot_id", find_boot_id},
    };
    emit_facts(rows, sizeof rows / sizeof *rows, emit, context);
}

static assay_validity find_version(char *value)
{
    return found(value, "%s", ASSAY_VERSION);
}

static assay_validity find_compiler(char *value)
{
#if defined(__clang__)
    return found(value, "%s", __VERSION__);
#else
    return found(value, "gcc %s", __VERSION__);
#endif
}

static assay_validity find_build_flags(char *value)
{
#if defined(ASSAY_BUILD_FLAGS)
    return found(value, "%s", ASSAY_BUILD_FLAGS);
#elif defined(__OPTIMIZE__)
    return found(value, "optimized");
#else
    return found(value, "not optimized");
#endif
}

static assay_validity find_libc(char *value)
{
    return found(value, "glibc %s", gnu_get_libc_version());
}

static assay_validity find_architecture(char *value)
{
#if defined(__x86_64__)
    return found(value, "x86_64");
#elif defined(__aarch64__)
    return found(value, "aarch64");
#else
    (void)value;
    return ASSAY_UNSUPPORTED;
#endif
}

void assay__build_describe(assay_fact_sink emit, void *context)
{
    static const fact_row rows[] = {
        {"assay_version", find_version},     {"compiler", find_compiler},
        {"build_flags", find_build_flags},   {"libc", find_libc},
        {"architecture", find_architecture},
    };
    emit_facts(rows, sizeof rows / sizeof *rows, emit, context);
}

assay_reading assay_machine_steal_seconds(void)
{
    char text[512];
    unsigned long long field[8] = {0};
    assay_status status = assay__proc_read("/proc/stat", text, sizeof text);
    if (status != ASSAY_OK)
        return assay_reading_missing(assay__proc_validity(status));
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &field[0], &field[1], &field[2],
               &field[3], &field[4], &field[5], &field[6], &field[7]) != 8)
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return assay_reading_of((double)field[7] / (double)sysconf(_SC_CLK_TCK));
}
