import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Platform } from '../../../client/src/index.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { unknownPlatform } from '../invocation/client-problems.ts';
import { idOf, misuse, Refusal } from '../invocation/command.ts';
import { wordsIn } from '../invocation/messages.ts';
import { syncFailure } from './exit-codes.ts';
import { lockFolder } from './lock.ts';
import { Mirror } from './mirror.ts';
import { failedResult, missingText, syncedResult } from './results.ts';
import { sync } from './updating.ts';
import type { Selection } from './wanted-mods.ts';
import { watch } from './watching.ts';

type Texts = 'url' | 'game' | 'collection' | 'platform' | 'token' | 'key' | 'interval';
type Switches = 'subscriptions' | 'zip' | 'dry-run' | 'watch';

interface Invoked {
  readonly folder: string;
  readonly values: Readonly<Record<Texts, string | undefined> & Record<Switches, boolean> & { mod: string[] }>;
  readonly sandbox: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly language: Language;
  show(text: string): void;
  report(text: string): void;
}

export async function runSync(invoked: Invoked) {
  const words = wordsIn(invoked.language);
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const { intervalMs, ...syncing } = syncingOf(invoked, stop.signal);
    await using _ = await lockFolder(syncing.mirror.state);
    if (!syncing.isDryRun) await syncing.mirror.prepare();
    if (invoked.values.watch)
      await watch({
        syncing,
        words,
        pause: () => pause(intervalMs, undefined, { signal: stop.signal }),
        tell: ({ object, text }) => (invoked.json ? invoked.show(JSON.stringify(object)) : invoked.report(text)),
      });
    const synced = await sync(syncing);
    if (!syncing.isDryRun) for (const each of synced.missing) invoked.report(words(missingText(each)));
    return syncedResult(synced, syncing.isDryRun, words);
  } catch (error) {
    const failure = syncFailure(error, stop.signal, words);
    if (!failure) throw error;
    if (!invoked.json) throw new Refusal(failure.message, failure.exitCode);
    return failedResult(failure);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}

/** Timers have no longer times. */
const INTERVAL_SECONDS_MAX = 2_147_483;

function syncingOf({ folder, values, sandbox, env, language }: Invoked, signal: AbortSignal) {
  const { url, game, platform } = values;
  if (url === undefined || game === undefined) {
    const all = [...(url === undefined ? ['--url'] : []), ...(game === undefined ? ['--game'] : [])];
    throw misuse({ name: 'command_needs', values: { command: 'sync', options: { all } } });
  }
  if (!/^https?:/.test(url)) throw misuse({ name: 'option_address', values: { option: '--url', value: url } });
  if (platform !== undefined && !(PLATFORMS as readonly string[]).includes(platform))
    throw misuse(unknownPlatform(platform));
  const interval = Number(values.interval ?? 60);
  if (!(interval >= 1 && interval <= INTERVAL_SECONDS_MAX))
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
    intervalMs: interval * 1_000,
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
