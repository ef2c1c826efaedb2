import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, Program } from './program.ts';
import { type Claim, type CookService, Refused } from './service.ts';

/** The exit code for a temporary failure (sysexits.h). */
const EX_TEMPFAIL = 75;
const WAIT_SECONDS = 20;
const LINES_AT_ONCE = 400;
const REPORT_MS = 5_000;
const LOST = 404;

export interface RunnerOptions {
  readonly platforms: readonly string[];
  /** The studio's program and its arguments. */
  readonly words: readonly string[];
  readonly folder: string;
  /** Exits when there is nothing to cook. */
  readonly once: boolean;
  readonly say: (text: string) => void;
}

/** Processes one cook after the other until it is stopped. */
export async function runCooks(service: CookService, options: RunnerOptions, stop: AbortSignal): Promise<void> {
  await mkdir(options.folder, { recursive: true });
  while (!stop.aborted) {
    const claim = await service.claim(options.once ? 0 : WAIT_SECONDS, options.platforms, stop);
    if (claim) await cook(service, claim, options, stop);
    else if (options.once) return;
  }
}

async function cook(service: CookService, claim: Claim, options: RunnerOptions, stop: AbortSignal): Promise<void> {
  const { cook_uuid, platform } = claim.cook;
  options.say(`Cooking ${cook_uuid} of mod ${claim.mod_id} for ${platform}.`);
  const folder = await mkdtemp(join(options.folder, 'cook-'));
  const journal = new Journal(service, claim);
  try {
    const outcome = await cookIn(folder, service, claim, journal, options, stop);
    options.say(`${cook_uuid}: ${outcome}`);
  } catch (error) {
    if (journal.isLost || isLost(error)) options.say(`${cook_uuid}: it was cancelled, or assigned to another runner.`);
    else await reportFailure(service, claim, journal, options, error);
  } finally {
    journal.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The service answers 404 for a cook that belongs to another runner. */
const isLost = (error: unknown): boolean => error instanceof Refused && error.status === LOST;

async function cookIn(
  folder: string,
  service: CookService,
  claim: Claim,
  journal: Journal,
  options: RunnerOptions,
  stop: AbortSignal,
): Promise<string> {
  const [source, output] = [join(folder, 'source.zip'), join(folder, 'output.zip')];
  const build = claim.build && (await buildOf(service, claim, options.folder));
  await service.download(claim, 'source', claim.source, source);
  const environment: NodeJS.ProcessEnv = { ...process.env, ...environmentOf(claim, { source, output, build }) };
  delete environment['COOK_RUNNER_SECRET'];
  const words = [resolvedProgram(options.words[0]!), ...options.words.slice(1), source, output];
  const program = new Program(words, environment, folder, (line) => journal.add(line));
  const { code, problem } = await endedOr(program, AbortSignal.any([stop, journal.lost]));
  journal.lost.throwIfAborted();
  if (problem !== undefined) journal.add(problem);
  const isInterrupted = stop.aborted || problem !== undefined || code === null || code === EX_TEMPFAIL;
  if (code !== 0) return fail(service, claim, journal, isInterrupted);
  if (!(await isThere(output))) {
    journal.add(`The program succeeded, but wrote no ${output}.`);
    return fail(service, claim, journal, false);
  }
  await journal.flush();
  await service.finish(claim, output);
  return 'it is done.';
}

/** Waits for the program to exit, and stops it on the signal. */
async function endedOr(program: Program, signal: AbortSignal): Promise<Ended> {
  const end = () => program.stop();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await program.ended;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Resolves a relative path, because the program runs in another folder. */
const resolvedProgram = (name: string) => (name.includes('/') && !isAbsolute(name) ? resolve(name) : name);

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

async function fail(service: CookService, claim: Claim, journal: Journal, again: boolean): Promise<string> {
  await service.fail(claim, { again, logs: journal.rest() });
  return again ? 'it was returned to the queue.' : 'it failed.';
}

/** An error of the service blames the result, so the cook fails; any other error may be temporary, so it is retried. */
async function reportFailure(
  service: CookService,
  claim: Claim,
  journal: Journal,
  { say }: RunnerOptions,
  error: unknown,
): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  journal.add(message);
  say(`${claim.cook.cook_uuid}: ${message}`);
  await fail(service, claim, journal, !(error instanceof Refused)).catch(() => {});
}

/** Builds are cached across cooks, because they are large and change rarely. */
async function buildOf(service: CookService, claim: Claim, folder: string): Promise<string> {
  const file = join(folder, `build-${claim.build!.filehash.sha256}.zip`);
  if (await isThere(file)) return file;
  const arriving = `${file}.${process.pid}`;
  await service.download(claim, 'build', claim.build!, arriving);
  await rename(arriving, file);
  return file;
}

function environmentOf(claim: Claim, files: { source: string; output: string; build: string | null }) {
  return {
    COOK_SOURCE: files.source,
    COOK_OUTPUT: files.output,
    COOK_BUILD: files.build ?? '',
    COOK_PLATFORM: claim.cook.platform,
    COOK_UUID: claim.cook.cook_uuid,
    COOK_GAME_ID: String(claim.game_id),
    COOK_MOD_ID: String(claim.mod_id),
    COOK_VERSION: claim.source.version,
    COOK_METADATA_BLOB: claim.source.metadata_blob,
  };
}

/** Sends the output of the program to the service. Each report also renews the lease. */
class Journal {
  readonly #service: CookService;
  readonly #claim: Claim;
  readonly #stop = new AbortController();
  readonly #lost = new AbortController();
  #lines: string[] = [];
  #progress: number | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(service: CookService, claim: Claim) {
    this.#service = service;
    this.#claim = claim;
    void this.#beat();
  }

  /** Aborted once the cook belongs to another runner. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLost(): boolean {
    return this.lost.aborted;
  }

  add(line: string): void {
    const [, percent] = /^progress:\s*(\d{1,3})\s*%?$/i.exec(line.trim()) ?? [];
    if (percent === undefined) this.#lines.push(line);
    else this.#progress = Math.min(100, Number(percent));
  }

  /** Unsent lines; only the last ones if there are many. */
  rest(): string[] {
    const lines = this.#lines.slice(-LINES_AT_ONCE);
    this.#lines = [];
    return lines;
  }

  end(): void {
    this.#stop.abort();
  }

  flush(): Promise<void> {
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  async #send(): Promise<void> {
    const lines = this.#lines.splice(0, LINES_AT_ONCE);
    try {
      await this.#service.report(this.#claim, { progress: this.#progress, logs: lines });
    } catch (error) {
      this.#lines.unshift(...lines);
      if (isLost(error)) this.#lost.abort(error);
    }
  }

  /** Reports often while there is output, and often enough to keep the lease. */
  async #beat(): Promise<void> {
    const { signal } = this.#stop;
    const quietMs = (this.#claim.lease_seconds / 4) * 1_000;
    for (let quiet = 0; !signal.aborted && !this.isLost; ) {
      await sleep(REPORT_MS, undefined, { signal }).catch(() => {});
      quiet += REPORT_MS;
      if (signal.aborted || (this.#lines.length === 0 && quiet < quietMs)) continue;
      await this.flush();
      quiet = 0;
    }
  }
}
