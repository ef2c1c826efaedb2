/** The z-score of a 95 % interval. */
const Z = 1.959964;

/**
 * The lower bound of the Wilson score interval, from 0 to 1, so that a mod with one positive rating does not rank above
 * one with a thousand. 0 without ratings.
 */
export function wilsonLowerBound(positive: number, total: number): number {
  // Without positive ratings it is 0, which rounding may miss.
  if (positive <= 0) return 0;
  const share = positive / total;
  const spread = Z * Math.sqrt((share * (1 - share) + (Z * Z) / (4 * total)) / total);
  return Math.max(0, (share + (Z * Z) / (2 * total) - spread) / (1 + (Z * Z) / total));
}

/**
 * The first entry whose percentage and number of ratings are both reached applies. Below 20 % only the number counts.
 */
const TEXTS = [
  { text: 'Overwhelmingly Positive', percentage: 95, ratings: 500 },
  { text: 'Very Positive', percentage: 80, ratings: 50 },
  { text: 'Positive', percentage: 80, ratings: 1 },
  { text: 'Mostly Positive', percentage: 70, ratings: 1 },
  { text: 'Mixed', percentage: 40, ratings: 1 },
  { text: 'Mostly Negative', percentage: 20, ratings: 1 },
  { text: 'Overwhelmingly Negative', percentage: 0, ratings: 500 },
  { text: 'Very Negative', percentage: 0, ratings: 50 },
  { text: 'Negative', percentage: 0, ratings: 1 },
] as const;

export const DISPLAY_TEXTS = [...TEXTS.map(({ text }) => text), 'Unrated'] as const;

export type DisplayText = (typeof DISPLAY_TEXTS)[number];

export function displayText(positive: number, total: number): DisplayText {
  const isReached = ({ percentage, ratings }: (typeof TEXTS)[number]) =>
    total >= ratings && positive * 100 >= percentage * total;
  return TEXTS.find(isReached)?.text ?? 'Unrated';
}

export const percentagePositive = (positive: number, total: number): number =>
  total > 0 ? Math.round((positive * 100) / total) : 0;
