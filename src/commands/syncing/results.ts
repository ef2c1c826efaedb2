import type { Message, Words } from '../invocation/messages.ts';
import type { Failure } from './exit-codes.ts';
import type { Synced } from './updating.ts';
import type { MissingCode, Wanted } from './wanted-mods.ts';

/** What a run, or a look of `--watch`, prints: the object with `--json`, otherwise the text. */
export interface SyncResult {
  readonly object: object;
  readonly text: string;
  readonly exitCode: number;
}

const MISSING_TEXTS = {
  no_file: 'mod_without_file',
  not_found: 'mod_not_found',
  dependency_not_found: 'mod_dependency_not_found',
} as const satisfies Record<MissingCode, Message['name']>;

export const missingText = ({ mod, code }: Wanted['missing'][number]): Message => ({
  name: MISSING_TEXTS[code],
  values: { mod: String(mod) },
});

export function syncedResult(synced: Synced, isDryRun: boolean, words: Words): SyncResult {
  const missing = synced.missing.map((each) => ({ ...each, reason: words(missingText(each)) }));
  return {
    object: { ok: true, ...synced, missing },
    text: textOf(synced, isDryRun, words),
    exitCode: synced.exit_code,
  };
}

export const failedResult = ({ exitCode, message }: Failure): SyncResult => ({
  object: { ok: false, exit_code: exitCode, reason: message },
  text: message,
  exitCode,
});

function textOf({ added, updated, removed, missing }: Synced, isDryRun: boolean, words: Words): string {
  const lines: Message[] = [
    ...added.map((path) => ({ name: 'mod_added', values: { path } }) as const),
    ...updated.map((path) => ({ name: 'mod_updated', values: { path } }) as const),
    ...removed.map((path) => ({ name: 'mod_removed', values: { path } }) as const),
    ...missing.map(missingText),
    ...(isDryRun ? [{ name: 'sync_dry_run' } as const] : []),
  ];
  const counts = {
    added: added.length,
    updated: updated.length,
    removed: removed.length,
    missing: missing.length,
  };
  return [...lines, { name: 'sync_summary', values: counts } as const].map((line) => words(line)).join('\n');
}
