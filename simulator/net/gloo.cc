// Connections between hosts by Gloo (https://github.com/pytorch/gloo), which speaks TCP.
//
// A message is two of Gloo's: its size, then its bytes, so that the receiver can make room. Gloo sends in the calling
// thread what the socket takes, and the rest in a thread of its own, which inherits the signal mask of the caller of
// `open`; Gloo does not suppress SIGPIPE, so all callers block it.
//
// This is a library of its own, opened by its path with RTLD_LOCAL | RTLD_DEEPBIND and never linked: PyTorch exports
// the symbols of another version of Gloo.
#include "collective/net_plugin.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Buffer = gloo::transport::UnboundBuffer;

constexpr auto kForever = std::chrono::hours(24 * 365);
constexpr uint64_t kSize = 0, kBytes = 1; // slots, which tell the two messages apart

void explain(char *why, const char *text)
{
    std::strncpy(why, text, ACL_HCCL_NET_TEXT - 1);
    why[ACL_HCCL_NET_TEXT - 1] = '\0';
}

// Runs `body`, and turns an exception into a text.
template <typename Body> bool tried(char *why, Body body)
{
    try {
        body();
        return true;
    } catch (const std::exception &error) {
        explain(why, error.what());
    } catch (...) {
        explain(why, "an exception that is none of C++'s");
    }
    return false;
}

class Values : public gloo::rendezvous::Store {
public:
    explicit Values(const acl_hccl_store &store) : store_(store) {}

    void set(const std::string &key, const std::vector<char> &data) override
    {
        if (store_.set(store_.state, key.c_str(), data.data(), data.size()) != 0)
            throw std::runtime_error("the process that made rootInfo cannot be reached");
    }

    std::vector<char> get(const std::string &key) override
    {
        void *bytes = nullptr;
        size_t size = 0;
        if (store_.get(store_.state, key.c_str(), &bytes, &size) != 0)
            throw std::runtime_error("a process has ended or has given up while the processes connected");
        std::vector<char> value(static_cast<char *>(bytes), static_cast<char *>(bytes) + size);
        std::free(bytes);
        return value;
    }

    void wait(const std::vector<std::string> &keys) override
    {
        for (const auto &key : keys)
            get(key);
    }

    void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &) override { wait(keys); }

private:
    const acl_hccl_store store_;
};

} // namespace

struct acl_hccl_mesh {
    // The buffers of calls that wait, so that they can be aborted.
    class Waiting {
    public:
        Waiting(acl_hccl_mesh &mesh, Buffer *buffer) : mesh_(mesh), buffer_(buffer)
        {
            std::lock_guard<std::mutex> guard(mesh_.lock);
            if (mesh_.aborted)
                throw std::runtime_error("the communicator has ended");
            mesh_.waiting.insert(buffer_);
        }

        ~Waiting()
        {
            std::lock_guard<std::mutex> guard(mesh_.lock);
            mesh_.waiting.erase(buffer_);
        }

        Waiting(const Waiting &) = delete;
        Waiting &operator=(const Waiting &) = delete;

    private:
        acl_hccl_mesh &mesh_;
        Buffer *const buffer_;
    };

    void send(int member, uint64_t slot, const void *bytes, size_t size)
    {
        auto buffer = context->createUnboundBuffer(const_cast<void *>(bytes), size);
        Waiting waiting(*this, buffer.get());
        buffer->send(member, slot);
        if (!buffer->waitSend(std::chrono::duration_cast<std::chrono::milliseconds>(kForever)))
            throw std::runtime_error("the communicator has ended");
    }

    void receive(int member, uint64_t slot, void *bytes, size_t size)
    {
        auto buffer = context->createUnboundBuffer(bytes, size);
        Waiting waiting(*this, buffer.get());
        buffer->recv(member, slot);
        if (!buffer->waitRecv(std::chrono::duration_cast<std::chrono::milliseconds>(kForever)))
            throw std::runtime_error("the communicator has ended");
    }

    std::shared_ptr<gloo::rendezvous::Context> context;
    std::mutex lock; // guards the rest
    std::set<Buffer *> waiting;
    bool aborted = false;
};

namespace {

acl_hccl_mesh *open_mesh(uint32_t member, uint32_t members, const char *address, const acl_hccl_store *store,
                         uint64_t milliseconds, char *why)
{
    std::unique_ptr<acl_hccl_mesh> mesh(new (std::nothrow) acl_hccl_mesh);
    const bool done = mesh != nullptr && tried(why, [&] {
        std::shared_ptr<gloo::transport::Device> device =
            gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address));
        Values values(*store);
        mesh->context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(member), static_cast<int>(members));
        mesh->context->setTimeout(std::chrono::milliseconds(milliseconds));
        mesh->context->connectFullMesh(values, device);
    });
    if (mesh == nullptr)
        explain(why, "there is no memory");
    return done ? mesh.release() : nullptr;
}

int send_bytes(acl_hccl_mesh *mesh, uint32_t member, const void *bytes, uint64_t size, char *why)
{
    const bool done = tried(why, [&] {
        mesh->send(static_cast<int>(member), kSize, &size, sizeof size);
        if (size != 0)
            mesh->send(static_cast<int>(member), kBytes, bytes, size);
    });
    return done ? 0 : -1;
}

int receive_bytes(acl_hccl_mesh *mesh, uint32_t member, void **bytes, uint64_t *size, char *why)
{
    *bytes = nullptr;
    const bool done = tried(why, [&] {
        mesh->receive(static_cast<int>(member), kSize, size, sizeof *size);
        if (*size == 0)
            return;
        *bytes = std::malloc(*size);
        if (*bytes == nullptr)
            throw std::bad_alloc();
        mesh->receive(static_cast<int>(member), kBytes, *bytes, *size);
    });
    if (!done) {
        std::free(*bytes);
        *bytes = nullptr;
    }
    return done ? 0 : -1;
}

void abort_mesh(acl_hccl_mesh *mesh)
{
    std::lock_guard<std::mutex> guard(mesh->lock);
    mesh->aborted = true;
    for (Buffer *buffer : mesh->waiting) {
        buffer->abortWaitSend();
        buffer->abortWaitRecv();
    }
}

void close_mesh(acl_hccl_mesh *mesh)
{
    char why[ACL_HCCL_NET_TEXT];
    tried(why, [&] { mesh->context->closeConnections(); });
    tried(why, [&] { delete mesh; });
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct acl_hccl_net *acl_hccl_net(void)
{
    static const struct acl_hccl_net net = {ACL_HCCL_NET_VERSION, open_mesh,  send_bytes,
                                            receive_bytes,        abort_mesh, close_mesh};
    return &net;
}
