import type { CallArguments, Client, Operation, Output } from './client.ts';

/** The operations that return a page of a list, by offset or by cursor. */
export type ListOperation = {
  [Name in Operation]: Output<Name> extends { data: unknown[] } & ({ result_total: number } | { meta: CursorMeta })
    ? Name
    : never;
}[Operation];

type Page<Name extends ListOperation> = Extract<Output<Name>, { data: unknown[] }>;
type Item<Name extends ListOperation> = Page<Name>['data'][number];

interface CursorMeta {
  next_page_url: string | null;
}

interface AnyPage {
  data: unknown[];
  result_offset: number;
  result_total: number;
  meta?: CursorMeta;
}

/** Reads a list page by page, from `_offset` or `cursor` on. */
export async function* pages<Name extends ListOperation>(
  client: Client,
  operation: Name,
  ...[input, options]: CallArguments<Name>
): AsyncGenerator<Page<Name>, void, undefined> {
  for (let position: object | undefined = {}; position; ) {
    const rest = [{ ...input, ...position }, options] as unknown as CallArguments<Name>;
    const page = (await client.call(operation, ...rest)) as unknown as AnyPage;
    if (page.data.length > 0) yield page as unknown as Page<Name>;
    position = positionAfter(page);
  }
}

/** Undefined after the last page. */
function positionAfter({ data, meta, result_offset, result_total }: AnyPage): object | undefined {
  if (meta) return meta.next_page_url ? { cursor: new URL(meta.next_page_url).searchParams.get('cursor') } : undefined;
  const offset = result_offset + data.length;
  return data.length > 0 && offset < result_total ? { _offset: offset } : undefined;
}

/** Reads the entries of a list, one page after the other. */
export async function* items<Name extends ListOperation>(
  client: Client,
  operation: Name,
  ...rest: CallArguments<Name>
): AsyncGenerator<Item<Name>, void, undefined> {
  for await (const page of pages(client, operation, ...rest)) yield* page.data as Item<Name>[];
}
