// A recurrent cell by operators, with the gradients that its author wrote; bindings.cpp binds both.
#include <torch/extension.h>

#include <vector>

static torch::Tensor d_sigmoid(torch::Tensor s) { return (1 - s) * s; }
static torch::Tensor d_tanh(torch::Tensor z) { return 1 - z.tanh().pow(2); }
static torch::Tensor d_elu(torch::Tensor z, torch::Scalar alpha = 1.0)
{
    auto e = z.exp();
    auto mask = (alpha * (e - 1)) < 0;
    return (z > 0).type_as(z) + mask.type_as(z) * (alpha * e);
}

std::vector<at::Tensor> lltm_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h, torch::Tensor old_cell)
{
    auto X = torch::cat({old_h, input}, /*dim=*/1);
    auto gate_weights = torch::addmm(bias, X, weights.transpose(0, 1));
    auto gates = gate_weights.chunk(3, /*dim=*/1);
    auto input_gate = torch::sigmoid(gates[0]), output_gate = torch::sigmoid(gates[1]);
    auto candidate = torch::elu(gates[2], /*alpha=*/1.0);
    auto cell = old_cell + candidate * input_gate;
    auto h = torch::tanh(cell) * output_gate;
    return {h, cell, input_gate, output_gate, candidate, X, gate_weights};
}

std::vector<torch::Tensor> lltm_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor cell, torch::Tensor input_gate, torch::Tensor output_gate, torch::Tensor candidate, torch::Tensor X, torch::Tensor gate_weights, torch::Tensor weights)
{
    auto d_output_gate = torch::tanh(cell) * grad_h;
    auto d_cell = output_gate * grad_h * d_tanh(cell) + grad_cell;
    auto gates = gate_weights.chunk(3, /*dim=*/1);
    auto d_gates = torch::cat({candidate * d_cell * d_sigmoid(torch::sigmoid(gates[0])), d_output_gate * d_sigmoid(torch::sigmoid(gates[1])), input_gate * d_cell * d_elu(gates[2])}, /*dim=*/1);
    auto d_X = d_gates.mm(weights);
    const auto state_size = grad_h.size(1);
    return {d_X.slice(/*dim=*/1, 0, state_size), d_X.slice(/*dim=*/1, state_size), d_gates.t().mm(X), d_gates.sum(/*dim=*/0, /*keepdim=*/true), d_cell};
}
