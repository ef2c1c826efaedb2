import type { ServerResponse } from 'node:http';
import type { AnyOperation } from './operation.ts';

export function answerDocs(response: ServerResponse, _operations: readonly AnyOperation[]): void {
  response.end();
}
