import { ArchiveProblem } from './problem.ts';

const SEGMENT_BYTES_MAX = 255;
/** Windows keeps these for devices, whatever follows the first dot. */
const RESERVED = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i;
/** Controls, what turns text around or breaks a line, and what Windows does not allow. */
const FORBIDDEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffd<>"|?*]/u;

/** Throws unless the name means the same file, below the folder of whoever unpacks it, on every system. */
export function requireSafeName(name: string, bytesMax: number): void {
  const refuse = (reason: 'path' | 'name') => new ArchiveProblem(reason, { entry: name });
  if (Buffer.byteLength(name) > bytesMax) throw new ArchiveProblem('name_length', { entry: name, max: bytesMax });
  // A colon is a drive or a stream of NTFS; NUL ends a name for some and not for others.
  if (name === '' || name.startsWith('/') || /[\\:\0]/.test(name)) throw refuse('path');
  const segments = segmentsOf(name);
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) throw refuse('path');
  if (FORBIDDEN.test(name) || segments.some(isTroublesome)) throw refuse('name');
}

function isTroublesome(segment: string): boolean {
  const stem = segment.split('.', 1)[0]!.trimEnd();
  return /[. ]$/.test(segment) || RESERVED.test(stem) || Buffer.byteLength(segment) > SEGMENT_BYTES_MAX;
}

/** The names on the way to an entry; the slash at the end of a folder begins no further one. */
const segmentsOf = (name: string): string[] => (name.endsWith('/') ? name.slice(0, -1) : name).split('/');

export function extensionOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const dot = last.lastIndexOf('.');
  return dot === -1 ? '' : last.slice(dot + 1).toLowerCase();
}

interface Place {
  readonly spelling: string;
  readonly kind: 'file' | 'folder';
  /** An entry of its own, and not only on the way to one. */
  listed: boolean;
  within?: Map<string, Place>;
}

/** The tree that unpacking would make. */
export class Names {
  readonly #root: Place = { spelling: '', kind: 'folder', listed: true };
  readonly #folds: boolean;
  readonly #grow: () => void;

  /** `folds`: names that only some file systems can tell apart are the same. `grow` is told of each new place. */
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

/** Windows and macOS ignore case; macOS also how accents are composed. Capitals first, for letters like ß and ſ. */
const fold = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
