import { createHash } from 'node:crypto';
import { ArchiveProblem, linesOf } from './lines.ts';
import { FILES_FOLDER, FILES_KIND, kindOf, MANIFEST, Manifest, type Part, SIGNATURE } from './manifest.ts';
import { isSignedBy } from './signature.ts';
import { requireName, type Source } from './source.ts';

const MANIFEST_BYTES_MAX = 64 * 1024 ** 2;

export interface Described {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest, which names the archive. */
  readonly digest: string;
  /** The key that signed it, if any; whose key it is only the reader can know. */
  readonly signedBy: string | undefined;
}

/** Reads the manifest and checks its signature. */
export async function describe(source: Source): Promise<Described> {
  const bytes = await small(source, MANIFEST);
  if (!bytes) throw new ArchiveProblem(`it lacks ${MANIFEST}`);
  const parsed = Manifest.safeParse(json(bytes, MANIFEST));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ArchiveProblem(`${MANIFEST} is not valid: ${issue?.path.join('.')} ${issue?.message}`);
  }
  const manifest = parsed.data;
  const signature = await small(source, SIGNATURE);
  if (signature && !(manifest.public_key && isSignedBy(manifest.public_key, bytes, String(signature).trim())))
    throw new ArchiveProblem('its signature is wrong');
  return { manifest, digest: sha256(bytes), signedBy: signature ? manifest.public_key : undefined };
}

/** The parts of the manifest, or of a manifest without parts those that exist. */
export function partNames(source: Source, manifest: Manifest): string[] {
  const names = manifest.parts?.map(({ name }) => requireName(name)) ?? [...source.parts].sort();
  for (const name of names)
    if (kindOf(name) === undefined) throw new ArchiveProblem(`${JSON.stringify(name)} is no part`);
  return names;
}

export interface Verified extends Described {
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

interface FileLine {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads everything and compares it with the digests. */
export async function verify(source: Source, progress: (name: string) => void = () => {}): Promise<Verified> {
  const described = await describe(source);
  const counted = { rows: 0, files: 0, bytes: 0 };
  if (!described.manifest.parts) throw new ArchiveProblem(`${MANIFEST} lists no parts, so nothing can be verified`);
  for (const part of described.manifest.parts) {
    await verifyPart(source, part, counted);
    progress(part.name);
  }
  return { ...described, ...counted };
}

async function verifyPart(source: Source, part: Part, counted: { rows: number; files: number; bytes: number }) {
  const { name } = part;
  const hash = createHash('sha256');
  let rows = 0;
  for await (const { text, number } of linesOf(name, hashing(await source.open(requireName(name)), hash))) {
    rows += 1;
    if (part.kind !== FILES_KIND) continue;
    const file = json(Buffer.from(text), `line ${number} of ${name}`) as FileLine;
    await verifyFile(source, file);
    counted.files += 1;
    counted.bytes += file.bytes;
  }
  if (hash.digest('hex') !== part.sha256 || rows !== part.rows) throw new ArchiveProblem(`${name} is damaged`);
  counted.rows += rows;
}

async function verifyFile(source: Source, { name, bytes, sha256: digest }: FileLine): Promise<void> {
  const path = requireName(`${FILES_FOLDER}${name}`);
  if ((await source.bytesOf(path)) !== bytes) throw new ArchiveProblem(`${path} is damaged`);
  const hash = createHash('sha256');
  for await (const chunk of await source.open(path)) hash.update(chunk as Uint8Array);
  if (hash.digest('hex') !== digest) throw new ArchiveProblem(`${path} is damaged`);
}

async function* hashing(content: AsyncIterable<Uint8Array>, hash: ReturnType<typeof createHash>) {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

async function small(source: Source, name: string): Promise<Buffer | undefined> {
  const bytes = await source.bytesOf(name);
  if (bytes === undefined) return undefined;
  if (bytes > MANIFEST_BYTES_MAX) throw new ArchiveProblem(`${name} is too large`);
  return Buffer.concat(await Array.fromAsync(await source.open(name)));
}

export function json(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new ArchiveProblem(`${name} is not JSON`);
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
