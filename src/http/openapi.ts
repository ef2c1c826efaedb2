import type { AnyOperation } from './operation.ts';

export function openApiDocument(_operations: readonly AnyOperation[]): unknown {
  return {};
}
