import { extensionOf } from './names.ts';

/** Extensions of files that some operating system runs on a double click, although their content is no binary. */
const EXTENSIONS = new Set(
  'apk app appimage bat cmd com cpl deb dmg exe hta jar jse lnk msi msix pif pkg ps1 reg rpm scr sh vbe vbs wsf'.split(
    ' ',
  ),
);

const MACH_O = new Set([0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe]);
const FAT_MACH_O = 0xcafebabe;
/** Java class files begin with the same bytes as fat binaries, followed by a version above this number. */
const FAT_ARCHITECTURES_MAX = 40;

/** Detects programs and libraries by their first bytes, and scripts by their names. */
export function isExecutable(name: string, head: Buffer): boolean {
  if (EXTENSIONS.has(extensionOf(name))) return true;
  const start = head.toString('latin1');
  if (start.startsWith('MZ') || start.startsWith('\x7fELF')) return true;
  if (head.length < 8) return false;
  const magic = head.readUInt32BE(0);
  return MACH_O.has(magic) || (magic === FAT_MACH_O && head.readUInt32BE(4) <= FAT_ARCHITECTURES_MAX);
}
