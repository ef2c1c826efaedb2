import { catalogue, type ErrorName, errors } from '../../errors/catalogue.ts';
import type { OpenApiDocument, OperationObject } from '../openapi/types.ts';
import type { AnyOperation } from '../operation.ts';
import { protocolErrorsOf, UNIVERSAL_ERRORS } from '../protocol-errors.ts';

export const DOCS_PATH = '/v1/docs';

/** An operation, its description in the OpenAPI document, and the slug of its page. */
export interface Entry {
  readonly operation: AnyOperation;
  readonly described: OperationObject;
  readonly slug: string;
}

export interface Group {
  readonly name: string;
  readonly slug: string;
  readonly entries: readonly Entry[];
}

/** Everything that the pages show, computed once from the declarations. */
export interface DocsModel {
  readonly document: OpenApiDocument;
  readonly groups: readonly Group[];
  /** The names of the errors that share a reference, by the reference. */
  readonly refs: ReadonlyMap<number, readonly PublishedName[]>;
  /** The operations that return an error. Errors of all operations are omitted. */
  readonly answeredBy: ReadonlyMap<ErrorName, readonly Entry[]>;
}

export type PublishedName = keyof typeof errors;

export function docsModel(operations: readonly AnyOperation[], document: OpenApiDocument): DocsModel {
  const groups = document.tags.map(({ name }): Group => {
    const slug = slugOf(name);
    return { name, slug, entries: entriesOf(name, slug, operations, document) };
  });
  const entries = groups.flatMap((group) => group.entries);
  return { document, groups, refs: namesByRef(), answeredBy: entriesByError(entries) };
}

const slugOf = (tag: string) => tag.toLowerCase().replace(/\W+/g, '-');

/** Sorted by path. */
function entriesOf(
  tag: string,
  slug: string,
  operations: readonly AnyOperation[],
  document: OpenApiDocument,
): readonly Entry[] {
  const byId = new Map(operations.map((operation) => [operation.declaration.id, operation]));
  const described = Object.values(document.paths).flatMap((item) => Object.values(item));
  return described
    .filter(({ tags }) => tags.includes(tag))
    .map((each) => ({ operation: byId.get(each.operationId)!, described: each, slug }));
}

function namesByRef(): Map<number, PublishedName[]> {
  const names = (Object.keys(errors) as PublishedName[]).toSorted((one, other) => errors[one].ref - errors[other].ref);
  return Map.groupBy(names, (name) => errors[name].ref);
}

function entriesByError(entries: readonly Entry[]): Map<ErrorName, Entry[]> {
  const found = new Map<ErrorName, Entry[]>();
  for (const entry of entries)
    for (const name of errorsOf(entry.operation)) found.set(name, [...(found.get(name) ?? []), entry]);
  return found;
}

const errorsOf = (operation: AnyOperation): Set<ErrorName> =>
  new Set([...protocolErrorsOf(operation), ...operation.declaration.errors]).difference(new Set(UNIVERSAL_ERRORS));

export const isUniversal = (name: PublishedName): boolean => (UNIVERSAL_ERRORS as readonly string[]).includes(name);
export const isPublished = (name: PublishedName): boolean => Object.hasOwn(catalogue, name);

export const pathOfOperation = ({ slug, described }: Entry): string => `${DOCS_PATH}/${slug}#${described.operationId}`;
export const pathOfError = (ref: number): string => `${DOCS_PATH}/errors/${ref}`;
export const pathOfObject = (name: string): string => `${DOCS_PATH}/objects#object-${name}`;
