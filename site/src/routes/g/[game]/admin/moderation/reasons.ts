/** Reasons that moderators choose instead of writing them. */
export const REASONS = [
  'broken',
  'copied',
  'description',
  'malware',
  'mature',
  'offensive',
  'spam',
  'wrongGame',
] as const;

export const isReason = (text: string): text is (typeof REASONS)[number] => REASONS.some((reason) => reason === text);
