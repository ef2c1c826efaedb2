import { type ArchivePolicy, ArchiveProblem, type ArchiveSource, inspectArchive } from '../archives/archives.ts';
import { type Clamd, ScannerUnavailable, type Verdict } from './clamd.ts';
import { VIRUS_POSITIVE, VIRUS_STATUS, type VirusPositive, type VirusStatus } from './states.ts';

export { type Clamd, clamdAt, ScannerUnavailable } from './clamd.ts';
export { isScanPassed, VIRUS_POSITIVE, VIRUS_STATUS } from './states.ts';

export interface Threat {
  /** The path of the file, which continues through nested archives as if they were folders. */
  readonly path: string;
  readonly signature: string;
}

export interface ScanResult {
  readonly status: VirusStatus;
  readonly positive: VirusPositive;
  readonly threats: readonly Threat[];
  /** Programs and files that clamd calls unwanted, none of which is known to be harmful. */
  readonly doubtful: readonly string[];
  /** Files that were not scanned, or not completely, with the reason; it is empty for one that is too large. An archive with any of these is not clean. */
  readonly unscanned: readonly { readonly path: string; readonly why: string }[];
  /** The scanner was unavailable; a retry may succeed later. */
  readonly again: boolean;
}

export interface ScanLimits {
  /**
   * The maximum size of a single file. Larger files are not sent, because clamd replies OK to files that it skips for
   * their size.
   */
  readonly fileBytesMax: number;
  readonly policy?: Partial<ArchivePolicy>;
}

const THREATS_MAX = 20;
const UNSCANNED_MAX = 100;

/** Scans every file of an archive and of nested archives separately. Throws only if the bytes cannot be read. */
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

/** Ends the scan early, because the result is known. */
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
    else if (verdict.kind === 'too-large') this.#miss(path, '', true);
    else if (verdict.kind === 'failed') this.#miss(path, verdict.says, false);
    if (this.#threats.length >= THREATS_MAX) throw new Enough();
  }

  /** Some signatures of clamd mean that it could not scan, and some that a file is merely unwanted. */
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

  /** One threat determines the status, even if not all files were scanned. */
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
