const LENGTH_MAX = 100;
/** Characters that could end a path or a header value, or make one name look like another. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}"'`<>:|?*;%\\/]/gu;
/** Device names on Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** The filename that downloads offer: the uploaded name without characters that are unsafe on a client’s disk. */
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
