import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';

/** Reports name some platforms otherwise than all other requests do. */
const OTHERWISE: Record<string, string> = { playstation4: 'ps4', playstation5: 'ps5' };
const ALL = 'all';

/**
 * The platforms that a text names, separated by commas; undefined where it names one that there is not, or that the
 * game does not run on.
 */
export function platformsNamed(text: string, offered: readonly string[]): string[] | undefined {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const names = [...new Set(words.map((word) => OTHERWISE[word] ?? word))];
  const known: readonly string[] = offered.length > 0 ? offered : PLATFORMS;
  return names.every((name) => name === ALL || known.includes(name)) ? names : undefined;
}
