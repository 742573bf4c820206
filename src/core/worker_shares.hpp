#pragma once

#include <cstddef>
#include <vector>

// How the workers of a queue are shared, so that slow or failing jobs never hold all of them
// (docs/adr/0028).
namespace pawl::core {

// How many of `workers` may work jobs of one kind at once. Strict, also while no other kind is due:
// a worker that a slow job holds can't be taken back when one comes.
int workers_of_a_kind(int workers, std::size_t kinds) noexcept;

// The workers of each of `layers` retry layers, besides those of first tries: half as many in all,
// at least one each. Empty without workers.
std::vector<int> workers_of_layers(int workers, std::size_t layers);

}  // namespace pawl::core
