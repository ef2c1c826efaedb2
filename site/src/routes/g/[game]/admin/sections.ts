/** The pages of a game's dashboard, with the lowest level of the team that can use them. */
export const SECTIONS = [
  {
    group: 'content',
    pages: [
      ['', 1],
      ['moderation', 1],
      ['moderation/files', 1],
      ['moderation/reports', 1],
      ['moderation/deleted', 1],
      ['moderation/stats', 1],
      ['rules', 1],
      ['words', 1],
      ['file-types', 1],
      ['restrictions', 1],
      ['findings', 1],
    ],
  },
  {
    group: 'game',
    pages: [
      ['settings', 4],
      ['look', 4],
      ['platforms', 4],
      ['tags', 4],
      ['previews', 4],
      ['team', 1],
      ['plan', 1],
    ],
  },
  {
    group: 'developers',
    pages: [
      ['keys', 8],
      ['oauth', 8],
      ['portals', 8],
      ['servers', 8],
      ['webhooks', 8],
      ['cooking', 1],
      ['audit', 1],
    ],
  },
  {
    group: 'money',
    pages: [
      ['money/queue', 1],
      ['money/partners', 1],
      ['money/terms', 1],
      ['money/packs', 8],
      ['money/stores', 8],
      ['money/transactions', 8],
      ['money/refunds', 8],
      ['money/payouts', 8],
      ['money/statements', 8],
      ['money/reconciliation', 8],
    ],
  },
] as const;

/** Those that a member of this level can use. */
export const sectionsFor = (level: number) =>
  SECTIONS.map(({ group, pages }) => ({
    group,
    pages: pages.filter(([, least]) => level >= least).map(([path]) => path),
  })).filter(({ pages }) => pages.length > 0);
