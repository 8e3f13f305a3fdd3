// A module for Python of functions in another file, with names and defaults of arguments.
#include <torch/extension.h>

namespace py = pybind11;

std::vector<at::Tensor> lltm_forward(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);
std::vector<torch::Tensor> lltm_backward(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);

static std::vector<torch::Tensor> repeated(const torch::Tensor &x, int64_t times) { return std::vector<torch::Tensor>(size_t(times), x); }

enum class Corner { Low, High = 4 };
enum Side { Left = -1, Right = 1 };
enum class Unbound { Some };

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.doc() = "cells and small things";
    py::enum_<Corner>(m, "Corner", "of a box").value("Low", Corner::Low).value("High", Corner::High);
    py::enum_<Side>(m, "Side", py::arithmetic()).value("Left", Left).value("Right", Right).export_values();
    m.def("opposite", [](Corner c) { return c == Corner::Low ? Corner::High : Corner::Low; }, py::arg("corner") = Corner::High);
    m.def("moved", [](torch::Tensor x, Side to, std::optional<Corner> from) { return x + double(to) + (from ? double(*from) : 0); }, py::arg("x"), py::arg("to") = Right, py::arg("from_") = py::none());
    m.def("unbound", [](Unbound) {});
    m.def("forward", &lltm_forward, "LLTM forward");
    m.def("backward", &lltm_backward, "LLTM backward");
    m.def("repeated", &repeated, py::arg("x"), py::arg("times") = 2, py::call_guard<py::gil_scoped_release>());
    m.def(
        "scaled", [](torch::Tensor x, double by, std::string how, std::vector<int64_t> shape) { return how == "add" ? x + by : (x * by).reshape(shape); }, "x by a number", py::arg("x"), py::arg("by") = 0.5, py::arg("how") = "mul", py::arg("shape") = std::vector<int64_t>{-1});
    m.def("first", [](std::vector<torch::Tensor> list) -> torch::Tensor { return list.empty() ? torch::Tensor() : list.at(0); });
    m.def("fails", [](int kind) {
        if (kind == 0) TORCH_CHECK_INDEX(false, "index ", kind);
        if (kind == 1) TORCH_CHECK_VALUE(false, "value ", kind);
        if (kind == 2) AT_ERROR("error ", kind, " of ", at::kHalf);
        throw std::out_of_range("far");
    });
}
