/* libfmk_onnx_parser.so: the C++ names by which programs (onnxruntime's CANN provider) compile ONNX models in memory.
 *
 * A graph holds the bytes of its ONNX model and the options that it was parsed with. Building it runs the package's own
 * `atc` in a Python process, over a temporary directory; its stderr is the message of a failure. This is a library of its
 * own, not a filter, so that libacl_sim.so never needs libstdc++.
 *
 * Clients create these objects themselves and inline the destructors, so their layout is part of the interface: a string
 * and a graph are one std::shared_ptr each. The options of the process are guarded by `lock`, which is never held while a
 * process runs. No exception leaves the library. */
#include <acl/acl_sim.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define VISIBLE __attribute__((visibility("default")))
#define INSTALL "pip install 'ascendcl[onnx]' there, or set ACL_SIM_PYTHON to a Python that has it"

namespace ge {

using graphStatus = uint32_t;
static const graphStatus GRAPH_SUCCESS = 0, GRAPH_FAILED = UINT32_MAX, GRAPH_PARAM_INVALID = 50331649;

class AscendString {
public:
    VISIBLE explicit AscendString(const char *text);
    VISIBLE bool operator<(const AscendString &other) const;
    std::string text() const { return text_ == nullptr ? std::string() : *text_; }

private:
    std::shared_ptr<std::string> text_; /* null: the empty string */
};

using Options = std::map<AscendString, AscendString>;

struct Parsed {
    std::string onnx;
    Options options;
};

class Graph {
public:
    VISIBLE explicit Graph(const char *name);
    std::shared_ptr<Parsed> parsed; /* copies of a graph are the same graph */
};

struct ModelBufferData {
    std::shared_ptr<uint8_t> data;
    uint64_t length;
};

static_assert(sizeof(AscendString) == sizeof(std::shared_ptr<int>), "a client's string is one shared_ptr");
static_assert(sizeof(Graph) == sizeof(std::shared_ptr<int>), "a client's graph is one shared_ptr");
static_assert(sizeof(ModelBufferData) == sizeof(std::shared_ptr<int>) + 8, "a client's buffer is a shared_ptr and a length");

VISIBLE graphStatus aclgrphParseONNXFromMem(const char *buffer, size_t size, const Options &parser_params, Graph &graph);
VISIBLE graphStatus aclgrphBuildInitialize(Options &global_options);
VISIBLE graphStatus aclgrphBuildModel(const Graph &graph, const Options &build_options, ModelBufferData &model);
VISIBLE graphStatus aclgrphSaveModel(const char *output_file, const ModelBufferData &model);
VISIBLE void aclgrphBuildFinalize();

namespace {

std::mutex lock;
bool is_initialized;
std::map<std::string, std::string> process_flags; /* of atc, by name */

/* Why a call fails, as the rest of "<function> failed because ". */
struct Refusal {
    graphStatus status;
    aclError code;
    std::string text;
};

Refusal wrong(const std::string &text)
{
    return {GRAPH_PARAM_INVALID, ACL_ERROR_INVALID_PARAM, text};
}

Refusal broken(const std::string &text)
{
    return {GRAPH_FAILED, ACL_ERROR_FAILURE, text};
}

template <class Body> graphStatus guarded(const char *function, Body body)
{
    try {
        body();
        return GRAPH_SUCCESS;
    } catch (const Refusal &refusal) {
        aclsimRefuse(function, refusal.code, refusal.text.c_str());
        return refusal.status;
    } catch (const std::exception &error) {
        aclsimRefuse(function, ACL_ERROR_FAILURE, error.what());
        return GRAPH_FAILED;
    }
}

/* ---- options ---- */

struct Option {
    const char *key;
    const char *flag; /* of atc */
};

const Option known[] = {
    {"ge.INPUT_NODES_SET_FP16", "input_fp16_nodes"},
    {"ge.aicoreNum", "aicore_num"},
    {"ge.autoTuneMode", "auto_tune_mode"},
    {"ge.bufferOptimize", "buffer_optimize"},
    {"ge.debugDir", "debug_dir"},
    {"ge.deterministic", "deterministic"},
    {"ge.dynamicBatchSize", "dynamic_batch_size"},
    {"ge.dynamicDims", "dynamic_dims"},
    {"ge.dynamicImageSize", "dynamic_image_size"},
    {"ge.enableSingleStream", "enable_single_stream"},
    {"ge.enableSmallChannel", "enable_small_channel"},
    {"ge.engineType", "core_type"},
    {"ge.exec.disableReuseMemory", "disable_reuse_memory"},
    {"ge.exec.op_precision_mode", "op_precision_mode"},
    {"ge.exec.precision_mode", "precision_mode"},
    {"ge.exec.precision_mode_v2", "precision_mode_v2"},
    {"ge.externalWeight", "external_weight"},
    {"ge.fusionSwitchFile", "fusion_switch_file"},
    {"ge.insertOpFile", "insert_op_conf"},
    {"ge.mdl_bank_path", "mdl_bank_path"},
    {"ge.opDebugLevel", "op_debug_level"},
    {"ge.opSelectImplmode", "op_select_implmode"},
    {"ge.op_bank_path", "op_bank_path"},
    {"ge.op_compiler_cache_dir", "op_compiler_cache_dir"},
    {"ge.op_compiler_cache_mode", "op_compiler_cache_mode"},
    {"ge.optypelistForImplmode", "optypelist_for_implmode"},
    {"ge.outputDatatype", "output_type"},
    {"ge.outputNodeName", "out_nodes"},
    {"ge.socVersion", "soc_version"},
    {"input_format", "input_format"},
    {"input_fp16_nodes", "input_fp16_nodes"},
    {"input_shape", "input_shape"},
    {"input_shape_range", "input_shape_range"},
    {"insert_op_conf", "insert_op_conf"},
    {"is_input_adjust_hw_layout", "is_input_adjust_hw_layout"},
    {"is_output_adjust_hw_layout", "is_output_adjust_hw_layout"},
    {"log", "log"},
    {"out_nodes", "out_nodes"},
    {"output_type", "output_type"},
};

/* Adds the flags of atc that options ask for; an empty value is no value. */
void add_flags(std::map<std::string, std::string> &flags, const char *parameter, const Options &options)
{
    for (const auto &option : options) {
        const std::string key = option.first.text();
        const Option *found = nullptr;
        std::string keys;
        for (const Option &one : known) {
            keys += (keys.empty() ? "" : ", ") + std::string(one.key);
            if (key == one.key)
                found = &one;
        }
        if (found == nullptr)
            throw wrong(std::string(parameter) + " has the option " + key + ", expected one of " + keys);
        if (!option.second.text().empty())
            flags[found->flag] = option.second.text();
    }
}

/* ---- files ---- */

[[noreturn]] void cannot(const char *what, const std::string &path)
{
    throw broken(std::string("it cannot ") + what + " " + path + ": " + strerror(errno));
}

void write_file(const std::string &path, const void *data, size_t size)
{
    FILE *file = fopen(path.c_str(), "wbe");
    if (file == nullptr)
        cannot("write", path);
    bool done = fwrite(data, 1, size, file) == size;
    done = fclose(file) == 0 && done;
    if (!done) {
        int error = errno;
        unlink(path.c_str());
        errno = error;
        cannot("write", path);
    }
}

std::string read_file(const std::string &path)
{
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "rbe"), fclose);
    std::string content;
    char part[1 << 16];
    if (file == nullptr)
        cannot("read", path);
    while (size_t got = fread(part, 1, sizeof part, file.get()))
        content.append(part, got);
    if (ferror(file.get()))
        cannot("read", path);
    return content;
}

/* What a run of atc reads and writes; it goes with the object. */
class Directory {
public:
    Directory()
    {
        const char *base = getenv("TMPDIR");
        path_ = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/acl-onnx-XXXXXX";
        if (mkdtemp(&path_[0]) == nullptr)
            cannot("create the directory", path_);
    }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory()
    {
        for (const char *name : {"model.onnx", "model.om", "stderr"})
            unlink(file(name).c_str());
        rmdir(path_.c_str());
    }
    std::string file(const char *name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

/* ---- the process ---- */

/* What the process runs: the package that the library belongs to, or the installed one where the library was copied. */
const char boot[] =
    "import os, sys\n"
    "root = sys.argv.pop(1)\n"
    "sys.path[:] = [root] * bool(root) + [path for path in sys.path if path]\n"
    "os.environ['ACL_BACKEND'] = 'sim'\n"
    "os.environ.pop('ACL_RECORD', None)\n"
    "try:\n"
    "    import acl, runpy\n"
    "except Exception as error:\n"
    "    sys.exit(f\"{type(error).__name__}: {error}; " INSTALL "\")\n"
    "runpy.run_module('acl', run_name='__main__', alter_sys=True)\n";

/* The directory of the package acl, when it is that around the library: ROOT/acl/lib64/libfmk_onnx_parser.so; or "". */
std::string package_root()
{
    Dl_info library;
    char path[PATH_MAX];
    if (dladdr(boot, &library) == 0 || realpath(library.dli_fname, path) == nullptr)
        return "";
    std::string root = path;
    for (int i = 0; i < 3; i++)
        root.erase(root.find_last_of('/') == std::string::npos ? 0 : root.find_last_of('/'));
    return access((root + "/acl/atc.py").c_str(), R_OK) == 0 ? root : "";
}

std::string python()
{
    char name[PATH_MAX];
    return aclsimGetConfig("python", name, sizeof name) == ACL_SUCCESS ? name : "python3";
}

/* Starts the process with its stderr in a file; 0, or an error number. */
int spawn(pid_t &process, std::vector<std::string> arguments, const std::string &errors)
{
    std::vector<char *> pointers;
    for (std::string &argument : arguments)
        pointers.push_back(&argument[0]);
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t signals;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    int error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error != 0 ? error : posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    error = error != 0 ? error : posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), flags, 0600);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how, &signals);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = error != 0 ? error : posix_spawnp(&process, pointers[0], &files, &how, pointers.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* How the process ended, as the rest of a sentence; "" after success. Where the program ignores SIGCHLD, nobody can say:
 * what the process has written tells. */
std::string ending(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return "";
    if (WIFSIGNALED(status))
        return " was killed by signal " + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : " ended with status " + std::to_string(WEXITSTATUS(status));
}

/* The messages of atc on one line. */
std::string said(const std::string &path)
{
    std::string text = read_file(path);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
        text.replace(at, 1, "; ");
    return text;
}

/* The bytes of the model file that atc makes of an ONNX model. */
std::string compile(const std::string &onnx, const std::map<std::string, std::string> &flags)
{
    const Directory directory;
    const std::string errors = directory.file("stderr"), made = directory.file("model.om"), exe = python();
    write_file(directory.file("model.onnx"), onnx.data(), onnx.size());
    std::vector<std::string> arguments = {exe, "-c", boot, package_root(), "atc", "--framework=5"};
    arguments.push_back("--model=" + directory.file("model.onnx"));
    arguments.push_back("--output=" + made);
    for (const auto &flag : flags)
        arguments.push_back("--" + flag.first + "=" + flag.second);
    pid_t process = 0;
    const int error = spawn(process, arguments, errors);
    if (error != 0)
        throw broken("a Python process compiles ONNX models, and " + exe + " cannot be started: " + strerror(error) + "; " INSTALL);
    const std::string end = ending(process);
    if (!end.empty() || access(made.c_str(), R_OK) != 0)
        throw broken("`" + exe + " -m acl atc`" + (end.empty() ? " wrote no model" : end) + ": " + said(errors));
    return read_file(made);
}

} // namespace

/* ---- the interface ---- */

AscendString::AscendString(const char *text) : text_(text == nullptr ? nullptr : new std::string(text)) {}

bool AscendString::operator<(const AscendString &other) const
{
    return text() < other.text();
}

Graph::Graph(const char *) : parsed(std::make_shared<Parsed>()) {}

graphStatus aclgrphParseONNXFromMem(const char *buffer, size_t size, const Options &parser_params, Graph &graph)
{
    return guarded(__func__, [&] {
        std::map<std::string, std::string> flags;
        if (buffer == nullptr)
            throw wrong("buffer is NULL, expected an ONNX model");
        if (size == 0)
            throw wrong("size is 0, expected the size of an ONNX model in bytes");
        if (graph.parsed == nullptr)
            throw wrong("graph has no content, expected one created with a name");
        add_flags(flags, "parser_params", parser_params);
        graph.parsed->onnx.assign(buffer, size);
        graph.parsed->options = parser_params;
    });
}

/* A second call has no effect. */
graphStatus aclgrphBuildInitialize(Options &global_options)
{
    return guarded(__func__, [&] {
        std::map<std::string, std::string> flags;
        add_flags(flags, "global_options", global_options);
        std::lock_guard<std::mutex> held(lock);
        if (!is_initialized)
            process_flags = flags;
        is_initialized = true;
    });
}

/* An option of the build overrides the same one of the parser, and that the same one of the process. */
graphStatus aclgrphBuildModel(const Graph &graph, const Options &build_options, ModelBufferData &model)
{
    return guarded(__func__, [&] {
        std::map<std::string, std::string> flags;
        {
            std::lock_guard<std::mutex> held(lock);
            if (!is_initialized)
                throw broken("aclgrphBuildInitialize has not been called");
            flags = process_flags;
        }
        if (graph.parsed == nullptr || graph.parsed->onnx.empty())
            throw wrong("graph has no content, expected one filled by aclgrphParseONNXFromMem");
        add_flags(flags, "parser_params", graph.parsed->options);
        add_flags(flags, "build_options", build_options);
        const std::string content = compile(graph.parsed->onnx, flags);
        std::shared_ptr<uint8_t> data(new uint8_t[content.size()], std::default_delete<uint8_t[]>());
        memcpy(data.get(), content.data(), content.size());
        model.data = data;
        model.length = content.size();
    });
}

/* The file gets the ending .om where it lacks, and is replaced only by a whole one. */
graphStatus aclgrphSaveModel(const char *output_file, const ModelBufferData &model)
{
    return guarded(__func__, [&] {
        if (output_file == nullptr || *output_file == '\0')
            throw wrong("output_file is empty, expected the path of a file");
        if (model.data == nullptr || model.length == 0)
            throw wrong("model has no content, expected one built by aclgrphBuildModel");
        std::string path = output_file;
        if (path.size() < 3 || path.compare(path.size() - 3, 3, ".om") != 0)
            path += ".om";
        const std::string beside = path + "." + std::to_string(getpid()) + ".part";
        write_file(beside, model.data.get(), model.length);
        if (rename(beside.c_str(), path.c_str()) != 0) {
            int error = errno;
            unlink(beside.c_str());
            errno = error;
            cannot("write", path);
        }
    });
}

void aclgrphBuildFinalize()
{
    std::lock_guard<std::mutex> held(lock);
    process_flags.clear();
    is_initialized = false;
}

} // namespace ge
