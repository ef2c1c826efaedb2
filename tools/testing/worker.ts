import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { whenOverdue } from './overdue.ts';
import { type Counts, END_OF_OUTPUT, type News, type Order } from './protocol.ts';

const send = (news: News): void => void process.send?.(news);

/** Runs one file as `node FILE` would. Its tests are over when the event loop is empty. */
async function runFile({ file, alone, leakSeconds, env }: Order): Promise<void> {
  Object.assign(process.env, env);
  process.env['MODSTEAD_TEST_FILE'] = path.relative(process.cwd(), file);
  const before = stateOfProcess();
  const resources = process.getActiveResourcesInfo();
  // The channel to the runner must not keep the event loop alive, or no file would ever end.
  process.channel?.unref();
  const events = run({ files: [file], isolation: 'none' });
  const leaks = watchForLeaks(events, leakSeconds, resources);
  const failures = watchForFailures(events, file);
  let counts: Counts = { tests: 0, passed: 0, skipped: 0, todo: 0 };
  events.on('test:summary', (summary) => {
    process.channel?.ref();
    counts = summary.counts;
    if (!summary.success) failures.outside ||= counts.tests === counts.passed + counts.skipped + counts.todo;
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  leaks.clear();
  process.exitCode = 0;
  const left = alone ? [] : changesOf(before, stateOfProcess());
  const problem = (await loadingProblem(file)) ?? problemOf(failures, left);
  for (const stream of [process.stdout, process.stderr]) stream.write(END_OF_OUTPUT);
  send({ type: 'done', counts, memory: process.memoryUsage.rss(), ...(problem !== undefined && { problem }) });
}

type Events = ReturnType<typeof run>;
type Failures = { empty: boolean; outside: boolean };

/** Failures that the summary does not count: of file-level hooks, and a file without any test. */
function watchForFailures(events: Events, file: string): Failures {
  const failures: Failures = { empty: false, outside: false };
  // Node.js reports a file without tests as one test that has the name of the file.
  events.on('test:pass', ({ name }) => {
    if (name === file) failures.empty = true;
  });
  events.on('test:fail', ({ details }) => {
    const { error } = details as { error?: { failureType?: string } };
    if (error?.failureType === 'hookFailed') failures.outside = true;
  });
  return failures;
}

function problemOf({ empty, outside }: Failures, changes: string[]): string | undefined {
  if (empty) return 'ended without reporting a test';
  if (outside) return 'failed outside its tests';
  if (changes.length > 0)
    return `left ${changes.join(', ')} changed for the files that share its process: put back what it changes, or give the file a line "// Runs alone: …" with the reason`;
  return undefined;
}

/** Node.js does not report an error of the file's own code after the file has declared a test. */
async function loadingProblem(file: string): Promise<string | undefined> {
  try {
    await import(pathToFileURL(file).href);
    return undefined;
  } catch (error) {
    console.error(error);
    return 'failed outside its tests';
  }
}

/** Files whose tests are over end within milliseconds unless a server, socket or timer was left open. */
function watchForLeaks(events: Events, seconds: number, before: string[]): { clear(): void } {
  let open = 0;
  let overdue: { clear(): void } | undefined;
  const tell = () => send({ type: 'leak', resources: withoutFirst(process.getActiveResourcesInfo(), before) });
  const count = (change: number) => () => {
    open += change;
    overdue?.clear();
    if (open === 0) overdue = whenOverdue(seconds, tell);
  };
  events.on('test:enqueue', count(1));
  events.on('test:complete', count(-1));
  return { clear: () => overdue?.clear() };
}

/** The list without one occurrence of each entry of the other. */
function withoutFirst(list: string[], others: string[]): string[] {
  const rest = [...list];
  for (const other of others) if (rest.includes(other)) rest.splice(rest.indexOf(other), 1);
  return rest;
}

type State = Record<string, unknown>;

// libvips sets it when it is loaded.
const setByLibraries = new Set(['VIPSHOME']);

/** Process-wide state that a test can change. */
function stateOfProcess(): State {
  const variables = Object.entries(process.env)
    .filter(([name]) => !setByLibraries.has(name))
    .map(([name, value]) => [`process.env.${name}`, value]);
  const listeners = process
    .eventNames()
    .map((name) => [`the listeners of process "${String(name)}"`, process.listenerCount(name)]);
  return {
    ...Object.fromEntries([...variables, ...listeners]),
    'the working directory': process.cwd(),
    'the global Date': globalThis.Date,
    'the global setTimeout': globalThis.setTimeout,
    'the global fetch': globalThis.fetch,
  };
}

function changesOf(before: State, now: State): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => before[name] !== now[name]);
}

// Node.js sets it at the first file.
process.env['NODE_TEST_WORKER_ID'] = '1';
process.on('message', (order: Order) => void runFile(order));
// Preloads the service while the first file may wait for PostgreSQL. The file reports any error of the import.
if (process.env['MODSTEAD_TEST_PRELOAD'])
  import(pathToFileURL(process.env['MODSTEAD_TEST_PRELOAD']).href).catch(() => {});
// Ends this process if the runner was killed.
process.once('disconnect', () => process.exit());
