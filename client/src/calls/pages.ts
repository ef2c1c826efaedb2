import type { CallArguments, Client, Operation, Output } from './client.ts';

/** The operations that return a page with `result_total`. */
export type ListOperation = {
  [Name in Operation]: Output<Name> extends { data: unknown[]; result_total: number } ? Name : never;
}[Operation];

type Page<Name extends ListOperation> = Extract<Output<Name>, { data: unknown[] }>;
type Item<Name extends ListOperation> = Page<Name>['data'][number];

interface AnyPage {
  data: unknown[];
  result_count: number;
  result_offset: number;
  result_limit: number;
  result_total: number;
}

/** Reads a list page by page, from `_offset` on. */
export async function* pages<Name extends ListOperation>(
  client: Client,
  operation: Name,
  ...[input, options]: CallArguments<Name>
): AsyncGenerator<Page<Name>, void, undefined> {
  let offset = (input as { _offset?: number } | undefined)?._offset ?? 0;
  for (;;) {
    const rest = [{ ...input, _offset: offset }, options] as unknown as CallArguments<Name>;
    const page = (await client.call(operation, ...rest)) as unknown as AnyPage;
    if (page.result_count > 0) yield page as unknown as Page<Name>;
    offset = page.result_offset + page.result_count;
    if (page.result_count === 0 || offset >= page.result_total) return;
  }
}

/** Reads the entries of a list, one page after the other. */
export async function* items<Name extends ListOperation>(
  client: Client,
  operation: Name,
  ...rest: CallArguments<Name>
): AsyncGenerator<Item<Name>, void, undefined> {
  for await (const page of pages(client, operation, ...rest)) yield* page.data as Item<Name>[];
}
