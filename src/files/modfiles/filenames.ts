const LENGTH_MAX = 100;
/** Neither part of a path nor of a header, nor able to make a name look like another one. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}"'`<>:|?*;%\\/]/gu;
/** Devices on Windows, whatever extension follows. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** The name under which a file is offered: that of the upload, without what could do harm on someone's disk. */
export function safeFilename(given: string): string {
  const last = given.split(/[\\/]/).at(-1)!;
  const cleaned = last
    .normalize('NFC')
    .replace(UNSAFE, '')
    .trim()
    .replace(/^[.\s]+|[.\s]+$/g, '');
  const stem = cleaned.replace(/\.zip$/i, '').replace(/[.\s]+$/, '');
  const short = [...stem].slice(0, LENGTH_MAX - '.zip'.length).join('');
  return `${short === '' || RESERVED.test(short) ? `file${short && `-${short}`}` : short}.zip`;
}
