import type { Migration } from '../../../platform/database/migrate.ts';

const COUNTS = [
  ...[
    'downloads',
    'subscribers',
    'active_users',
    'ratings_positive',
    'ratings_negative',
    'sessions',
    'session_seconds',
  ],
];

/** The same metrics per platform, in tables of their own: the version before still writes the others. */
export const migration: Migration = {
  name: '2026-11-16-files-metrics-platforms',
  up: ({ integer, text }) => {
    const place = `game_id ${integer} not null, platform ${text} not null`;
    return [
      `alter table metrics_sessions add column platform ${text} not null default ''`,
      ...(['day', 'month'] as const).flatMap((span) => {
        const active = span === 'day' ? 'metrics_platform_active' : 'metrics_platform_active_months';
        return [
          `create table metrics_platform_${span}s (${place}, ${span} ${integer} not null,
            ${COUNTS.map((name) => `${name} ${integer} not null`).join(', ')}, primary key (game_id, platform, ${span}))`,
          `create table ${active} (${place}, ${span} ${integer} not null, who ${text} not null,
            counted ${integer} not null, primary key (game_id, platform, ${span}, who))`,
          `create index ${active}_by_${span} on ${active} (${span})`,
        ];
      }),
      ...[
        ['mod', 'mod_id'],
        ['creator', 'user_id'],
      ].flatMap(([resource, column]) => [
        `create table metrics_platform_${resource}_months (${place}, month ${integer} not null,
          ${column} ${integer} not null, downloads ${integer} not null, subscribers ${integer} not null,
          primary key (game_id, platform, month, ${column}))`,
        `create index metrics_platform_${resource}_months_ranked
          on metrics_platform_${resource}_months (game_id, platform, month, downloads desc, ${column})`,
        `create index metrics_platform_${resource}_months_by_${column}
          on metrics_platform_${resource}_months (${column}, platform)`,
      ]),
    ];
  },
};
