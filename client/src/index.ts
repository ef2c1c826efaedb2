export * from './client.ts';
export type * from './contract.ts';
export type { ErrorRef } from './error-refs.ts';
export { ApiError, ConnectionError, type ErrorOf, isApiError } from './errors.ts';
export { items, type ListOperation, pages } from './pages.ts';
export type { RetryOptions } from './retries.ts';
