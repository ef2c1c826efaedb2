import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    guides: GuidesTable;
    guide_tags: { guide_id: number; name: string; name_folded: string; date_added: number };
    guide_visits: GuideVisitsTable;
    guide_words: { guide_id: number; word: string };
  }
}

/** `status`: 0 not accepted, 1 accepted, 3 deleted. Everyone sees it once it is accepted and `date_live` has come. */
export interface GuidesTable {
  id: Generated<number>;
  game_id: number;
  status: number;
  date_live: number;
  submitted_by: number;
  date_added: number;
  date_updated: number;
  community_options: number;
  /** The game's team took it back: its author does not accept it again. */
  withheld: number;
  /** A copyright complaint is open. */
  dmca: number;
  visits_today: number;
  visits_total: number;
  comments_total: number;
  name_id: string;
  name: string;
  name_folded: string;
  /** Storage folder of the picture, and null where the placeholder is shown. */
  logo: string | null;
  summary: string;
  /** Markup, sanitised before it is stored. */
  description: string;
}

/** Who came within the last day, and the hour in which they did: what `visits_today` is made of. */
interface GuideVisitsTable {
  guide_id: number;
  /** A digest of the guide, the day and the address, which tells the address to nobody. */
  visitor: string;
  /** Unix hours. */
  hour: number;
}
