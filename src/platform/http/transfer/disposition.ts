/** Longer than any real name, and within every file system's limit in UTF-8. */
const CHARACTERS_MAX = 80;
const EXTENSION_CHARACTERS_MAX = 16;
const UNNAMED = 'download';

/** Control characters and those that hide text or reverse its direction: `exe.gpj` may not show as `jpg.exe`. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const OF_PATHS = /[<>:"/\\|?*%;]/g;
/** Device names on Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

/** A name that is valid on every file system and not misleading. */
export function safeFilename(name: string): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(INVISIBLE, '')
    .replace(OF_PATHS, '_')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  const short = shortened(plain).replace(/[\s.]+$/, '');
  if (short === '') return UNNAMED;
  return RESERVED.test(short) ? `_${short}` : short;
}

/** Cuts the middle, because the extension shows the file type. */
function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= CHARACTERS_MAX) return name;
  const dot = characters.lastIndexOf('.');
  const extension = dot > 0 && characters.length - dot <= EXTENSION_CHARACTERS_MAX ? characters.slice(dot) : [];
  return [...characters.slice(0, CHARACTERS_MAX - extension.length), ...extension].join('');
}

/** The Content-Disposition header, with an ASCII fallback (RFC 6266). */
export function attachment(name: string): string {
  const safe = safeFilename(name);
  const ascii = safe.replace(/[^\x20-\x7e]/gu, '_');
  if (ascii === safe) return `attachment; filename="${ascii}"`;
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended(safe)}`;
}

/** RFC 8187 allows fewer unescaped characters than `encodeURIComponent`. */
const extended = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
