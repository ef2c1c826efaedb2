import { ArchiveProblem } from './problem.ts';

const SEGMENT_BYTES_MAX = 255;
/** Device names of Windows, which ignores everything after the first dot. */
const RESERVED = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i;
/** Control characters, bidirectional and line-breaking characters, and characters that Windows forbids. */
const FORBIDDEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffd<>"|?*]/u;

/** Throws unless the name means the same file below the target folder on every operating system. */
export function requireSafeName(name: string, bytesMax: number): void {
  const refuse = (reason: 'path' | 'name') => new ArchiveProblem(reason, { entry: name });
  if (Buffer.byteLength(name) > bytesMax) throw new ArchiveProblem('name_length', { entry: name, max: bytesMax });
  // A colon means a drive or an NTFS stream. Some readers end a name at NUL and others do not.
  if (name === '' || name.startsWith('/') || /[\\:\0]/.test(name)) throw refuse('path');
  const segments = segmentsOf(name);
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) throw refuse('path');
  if (FORBIDDEN.test(name) || segments.some(isTroublesome)) throw refuse('name');
}

function isTroublesome(segment: string): boolean {
  const stem = segment.split('.', 1)[0]!.trimEnd();
  return /[. ]$/.test(segment) || RESERVED.test(stem) || Buffer.byteLength(segment) > SEGMENT_BYTES_MAX;
}

/** The path segments of an entry; the slash at the end of a folder's name starts no new one. */
const segmentsOf = (name: string): string[] => (name.endsWith('/') ? name.slice(0, -1) : name).split('/');

export function extensionOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const dot = last.lastIndexOf('.');
  return dot === -1 ? '' : last.slice(dot + 1).toLowerCase();
}

interface Place {
  readonly spelling: string;
  readonly kind: 'file' | 'folder';
  /** True for an entry of the archive, false for a folder that only occurs in paths. */
  listed: boolean;
  within?: Map<string, Place>;
}

/** The tree of files that unpacking would create. */
export class Names {
  readonly #root: Place = { spelling: '', kind: 'folder', listed: true };
  readonly #folds: boolean;
  readonly #grow: () => void;

  /** `folds`: names that some file systems cannot distinguish count as equal. `grow` is called for each new node. */
  constructor(folds: boolean, grow: () => void) {
    this.#folds = folds;
    this.#grow = grow;
  }

  add(name: string): void {
    const segments = segmentsOf(name);
    const kind = name.endsWith('/') ? 'folder' : 'file';
    let place = this.#root;
    for (const [index, segment] of segments.entries()) {
      const isLast = index === segments.length - 1;
      place = this.#enter(place, segment, isLast ? kind : 'folder', name);
      if (isLast && place.listed) throw new ArchiveProblem('duplicate', { entry: name });
      if (isLast) place.listed = true;
    }
  }

  #enter(parent: Place, segment: string, kind: Place['kind'], name: string): Place {
    parent.within ??= new Map();
    const key = this.#folds ? fold(segment) : segment;
    const found = parent.within.get(key);
    if (!found) {
      this.#grow();
      const place: Place = { spelling: segment, kind, listed: false };
      parent.within.set(key, place);
      return place;
    }
    if (found.spelling !== segment || found.kind !== kind) throw new ArchiveProblem('duplicate', { entry: name });
    return found;
  }
}

/**
 * Windows and macOS ignore case; macOS also ignores how accents are composed. Upper case first, for letters like ß and
 * ſ.
 */
const fold = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
