import type { Migration } from '../../../platform/database/migrate.ts';

export const revenueTeamsTables: Migration = {
  name: '2026-11-16-revenue-teams',
  up: ({ id, integer }) => [
    `create table revenue_teams (
      id ${id},
      mod_id ${integer} not null, -- no key, stays: past earnings outlive the mod
      game_id ${integer} not null references games (id),
      changed_by ${integer} not null references users (id),
      date_added ${integer} not null
    )`,
    'create index revenue_teams_by_mod on revenue_teams (mod_id, id)',
    'create index revenue_teams_by_changer on revenue_teams (changed_by)',
    `create table revenue_shares (
      revenue_team_id ${integer} not null references revenue_teams (id),
      user_id ${integer} not null references users (id),
      split ${integer} not null check (split > 0)
    )`,
    'create index revenue_shares_by_team on revenue_shares (revenue_team_id)',
    'create index revenue_shares_by_user on revenue_shares (user_id)',
  ],
};
