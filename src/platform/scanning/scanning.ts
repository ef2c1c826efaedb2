import { type ArchivePolicy, ArchiveProblem, type ArchiveSource, inspectArchive } from '../archives/archives.ts';
import { type Clamd, ScannerUnavailable, type Verdict } from './clamd.ts';
import { VIRUS_POSITIVE, VIRUS_STATUS, type VirusPositive, type VirusStatus } from './states.ts';

export { type Clamd, clamdAt, ScannerUnavailable } from './clamd.ts';
export { isScanPassed, VIRUS_POSITIVE, VIRUS_STATUS } from './states.ts';

export interface Threat {
  /** Of the file in the archive, through archives within it as if they were folders. */
  readonly path: string;
  readonly signature: string;
}

export interface ScanResult {
  readonly status: VirusStatus;
  readonly positive: VirusPositive;
  readonly threats: readonly Threat[];
  /** Unwanted by some, or a program: nothing that is known to do harm. */
  readonly doubtful: readonly string[];
  /** What was not looked at, or not to its end, and why; with any of these the archive is not clean. */
  readonly unscanned: readonly { readonly path: string; readonly why: string }[];
  /** The scanner was away: the same may succeed later. */
  readonly again: boolean;
}

export interface ScanLimits {
  /** Of a single file. Clamd says OK to what it skipped for its size, so it is not even asked about more. */
  readonly fileBytesMax: number;
  readonly policy?: Partial<ArchivePolicy>;
}

const THREATS_MAX = 20;
const UNSCANNED_MAX = 100;

/** Scans every file of an archive, and of the archives in it, one by one. Throws only when the bytes cannot be read. */
export async function scanArchive(
  source: ArchiveSource | undefined,
  clamd: Clamd,
  limits: ScanLimits,
): Promise<ScanResult> {
  const scan = new Scan(clamd, limits.fileBytesMax);
  if (!source) return scan.result(VIRUS_STATUS.FILE_NOT_FOUND);
  try {
    const { executables } = await inspectArchive(source, limits.policy, ({ path, bytes }, content) =>
      scan.look(path, bytes, content),
    );
    scan.doubt(executables);
  } catch (error) {
    return scan.resultOf(error);
  }
  return scan.result();
}

/** Enough is known; the rest need not be read. */
class Enough extends Error {}

class Scan {
  readonly #clamd: Clamd;
  readonly #fileBytesMax: number;
  readonly #threats: Threat[] = [];
  readonly #doubtful = new Set<string>();
  readonly #unscanned: { path: string; why: string }[] = [];
  #isTooLarge = false;
  #isFailed = false;

  constructor(clamd: Clamd, fileBytesMax: number) {
    this.#clamd = clamd;
    this.#fileBytesMax = fileBytesMax;
  }

  async look(path: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (bytes > this.#fileBytesMax) this.#note(path, { kind: 'too-large' });
    else if (bytes > 0) this.#note(path, await this.#clamd.scan(content));
  }

  #note(path: string, verdict: Verdict): void {
    if (verdict.kind === 'found') this.#noteSignature(path, verdict.signature);
    else if (verdict.kind === 'too-large') this.#miss(path, 'larger than the scanner takes', true);
    else if (verdict.kind === 'failed') this.#miss(path, verdict.says, false);
    if (this.#threats.length >= THREATS_MAX) throw new Enough();
  }

  /** Some of what clamd calls found is that it could not look, and some is only unwanted. */
  #noteSignature(path: string, signature: string): void {
    if (signature.startsWith('Heuristics.Limits.Exceeded')) this.#miss(path, signature, true);
    else if (signature.startsWith('Heuristics.Encrypted')) this.#miss(path, signature, false);
    else if (signature.startsWith('PUA.')) this.#doubtful.add(path);
    else this.#threats.push({ path, signature });
  }

  #miss(path: string, why: string, isTooLarge: boolean): void {
    if (this.#unscanned.length < UNSCANNED_MAX) this.#unscanned.push({ path, why });
    if (isTooLarge) this.#isTooLarge = true;
    else this.#isFailed = true;
  }

  doubt(paths: readonly string[]): void {
    for (const path of paths) this.#doubtful.add(path);
  }

  resultOf(error: unknown): ScanResult {
    if (error instanceof Enough) return this.result();
    const isAway = error instanceof ScannerUnavailable;
    if (!isAway && !(error instanceof ArchiveProblem)) throw error;
    this.#miss((error as ArchiveProblem).entry ?? '', error.message, false);
    return this.result(undefined, isAway && this.#threats.length === 0);
  }

  result(known?: VirusStatus, again = false): ScanResult {
    const [threats, doubtful] = [this.#threats, [...this.#doubtful]];
    return {
      status: known ?? this.#status(),
      positive: this.#positive(),
      threats,
      doubtful,
      unscanned: this.#unscanned,
      again,
    };
  }

  /** One threat is enough to know what the file is, even if not all of it was seen. */
  #status(): VirusStatus {
    if (this.#threats.length > 0) return VIRUS_STATUS.SCANNED;
    if (this.#isFailed) return VIRUS_STATUS.SCAN_ERROR;
    return this.#isTooLarge ? VIRUS_STATUS.FILE_TOO_LARGE : VIRUS_STATUS.SCANNED;
  }

  #positive(): VirusPositive {
    if (this.#threats.length > 0) return VIRUS_POSITIVE.THREAT;
    return this.#doubtful.size > 0 ? VIRUS_POSITIVE.POTENTIALLY_HARMFUL : VIRUS_POSITIVE.NONE;
  }
}
