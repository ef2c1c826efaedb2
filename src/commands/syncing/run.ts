import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, type Platform } from '../../../client/src/index.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { unknownPlatform } from '../invocation/client-problems.ts';
import { idOf, misuse, Refusal } from '../invocation/command.ts';
import { type Message, type Words, wordsIn } from '../invocation/messages.ts';
import { EXIT, syncFailure } from './exit-codes.ts';
import { lockFolder } from './lock.ts';
import { type Changes, Mirror } from './mirror.ts';
import { findWanted, type MissingCode, type Selection, type Wanted } from './wanted-mods.ts';

type Texts = 'url' | 'game' | 'collection' | 'platform' | 'token' | 'key' | 'interval';
type Switches = 'subscriptions' | 'zip' | 'dry-run' | 'watch';

interface Invoked {
  readonly folder: string;
  readonly values: Readonly<Record<Texts, string | undefined> & Record<Switches, boolean> & { mod: string[] }>;
  readonly sandbox: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly language: Language;
  report(text: string): void;
}

export interface Syncing {
  readonly client: Client;
  readonly gameId: number;
  readonly selection: Selection;
  readonly mirror: Mirror;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly say: (...messages: readonly Message[]) => void;
}

export type Synced = Changes & Pick<Wanted, 'missing'> & { readonly exit_code: number };

/** Downloads at the same time. */
const PARALLEL = 4;

/** Makes the folder current. Nothing of it changes before every file is there and verified. */
export async function sync({ client, gameId, selection, mirror, isDryRun, signal, say }: Syncing): Promise<Synced> {
  const { mods, missing } = await findWanted(client, gameId, selection, signal);
  const changes = await mirror.changesTo(mods);
  const exit_code = missing.length > 0 ? EXIT.MISSING : EXIT.CURRENT;
  if (isDryRun) return { ...changes, missing, exit_code };
  const left = [...mods];
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const work = async () => {
    for (let mod = left.shift(); mod; mod = left.shift()) {
      either.throwIfAborted();
      await mirror.fetch(client, mod, either);
    }
  };
  const workers = Array.from({ length: PARALLEL }, () =>
    work().catch((error) => {
      stop.abort();
      throw error;
    }),
  );
  // All of them end before the failure of the first is reported, so that none writes afterwards.
  const failed = (await Promise.allSettled(workers)).find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  await mirror.show(mods);
  for (const each of missing) say(missingText(each));
  return { ...changes, missing, exit_code };
}

const MISSING_TEXTS = {
  no_file: 'mod_without_file',
  not_found: 'mod_not_found',
  dependency_not_found: 'mod_dependency_not_found',
} as const satisfies Record<MissingCode, Message['name']>;

const missingText = ({ mod, code }: Wanted['missing'][number]): Message => ({
  name: MISSING_TEXTS[code],
  values: { mod: String(mod) },
});

export async function runSync(invoked: Invoked) {
  const words = wordsIn(invoked.language);
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const { interval, ...syncing } = syncingOf(invoked, stop.signal, (...messages) =>
      invoked.report(words(...messages)),
    );
    await using _ = await lockFolder(syncing.mirror.state);
    if (!syncing.isDryRun) await syncing.mirror.prepare();
    if (invoked.values.watch) await watch(syncing, interval, invoked.report, words);
    const synced = await sync(syncing);
    const missing = synced.missing.map((each) => ({ ...each, reason: words(missingText(each)) }));
    return {
      object: { ok: true, ...synced, missing },
      text: textOf(synced, syncing.isDryRun, words),
      exitCode: synced.exit_code,
    };
  } catch (error) {
    const failure = syncFailure(error, stop.signal, words);
    if (!failure) throw error;
    if (!invoked.json) throw new Refusal(failure.message, failure.exitCode);
    const { exitCode, message } = failure;
    return { object: { ok: false, exit_code: exitCode, reason: message }, text: message, exitCode };
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}

/** Goes on after failures that may pass. Ends by an interruption, or by a failure that a person has to mend. */
async function watch(
  syncing: Syncing,
  intervalSeconds: number,
  report: Invoked['report'],
  words: Words,
): Promise<never> {
  for (;;) {
    try {
      const synced = await sync(syncing);
      if (synced.added.length + synced.updated.length + synced.removed.length > 0) report(textOf(synced, false, words));
    } catch (error) {
      const failure = syncFailure(error, syncing.signal, words);
      if (failure?.exitCode !== EXIT.NETWORK && failure?.exitCode !== EXIT.DAMAGED) throw error;
      report(failure.message);
    }
    await pause(intervalSeconds * 1_000, undefined, { signal: syncing.signal });
  }
}

function syncingOf({ folder, values, sandbox, env, language }: Invoked, signal: AbortSignal, say: Syncing['say']) {
  const { url, game, platform } = values;
  if (url === undefined || game === undefined) {
    const all = [...(url === undefined ? ['--url'] : []), ...(game === undefined ? ['--game'] : [])];
    throw misuse({ name: 'command_needs', values: { command: 'sync', options: { all } } });
  }
  if (!/^https?:/.test(url)) throw misuse({ name: 'option_address', values: { option: '--url', value: url } });
  if (platform !== undefined && !(PLATFORMS as readonly string[]).includes(platform))
    throw misuse(unknownPlatform(platform));
  const interval = Number(values.interval ?? 60);
  if (!(interval >= 1))
    throw misuse({ name: 'option_seconds', values: { option: '--interval', value: values.interval! } });
  const token = values.token ?? env['MODSTEAD_TOKEN'];
  const key = values.key ?? env['MODSTEAD_API_KEY'];
  const client = createClient({ url, sandbox, token, key, language, platform: platform as Platform | undefined });
  const selection = selectionOf(values);
  const mirror = new Mirror(folder, { zips: values.zip });
  return {
    client,
    gameId: idOf(game, '--game'),
    selection,
    mirror,
    isDryRun: values['dry-run'],
    signal,
    say,
    interval,
  };
}

function selectionOf({ collection, mod, subscriptions }: Invoked['values']): Selection {
  const chosen: Selection[] = [
    ...(collection === undefined ? [] : [{ kind: 'collection', id: idOf(collection, '--collection') } as const]),
    ...(mod.length === 0
      ? []
      : [{ kind: 'mods', mods: mod.map((each) => (/^[1-9]\d*$/.test(each) ? Number(each) : each)) } as const]),
    ...(subscriptions ? [{ kind: 'subscriptions' } as const] : []),
  ];
  if (chosen.length !== 1) {
    const any = ['--collection', '--mod', '--subscriptions'];
    throw misuse({ name: 'command_needs', values: { command: 'sync', options: { any } } });
  }
  return chosen[0]!;
}

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
