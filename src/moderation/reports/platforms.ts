import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';

/** Reports have other names for some platforms than all other requests. */
const OTHERWISE: Record<string, string> = { playstation4: 'ps4', playstation5: 'ps5' };
const ALL = 'all';

/** Parses platforms separated by commas. Undefined if one is unknown, or not supported by the game. */
export function platformsNamed(text: string, offered: readonly string[]): string[] | undefined {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const names = [...new Set(words.map((word) => OTHERWISE[word] ?? word))];
  const known: readonly string[] = offered.length > 0 ? offered : PLATFORMS;
  return names.every((name) => name === ALL || known.includes(name)) ? names : undefined;
}
