import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    guides: GuidesTable;
    guide_tags: { guide_id: number; name: string; name_folded: string; date_added: number };
    guide_visits: GuideVisitsTable;
    guide_words: { guide_id: number; word: string };
  }
}

/**
 * `status`: 0 not accepted, 1 accepted, 3 deleted. A guide is public once it is accepted and `date_live` has passed.
 */
export interface GuidesTable {
  id: Generated<number>;
  game_id: number;
  status: number;
  date_live: number;
  submitted_by: number;
  date_added: number;
  date_updated: number;
  community_options: number;
  /** 1 if the game’s team rejected it. Its author cannot accept it again. */
  withheld: number;
  /** 1 while a copyright complaint is open. */
  dmca: number;
  visits_today: number;
  visits_total: number;
  comments_total: number;
  name_id: string;
  name: string;
  name_folded: string;
  /** The storage folder of the picture; null for the placeholder. */
  logo: string | null;
  summary: string;
  /** Sanitised markup. */
  description: string;
}

/** The visitors of the last day, each with the hour of the visit; `visits_today` counts them. */
interface GuideVisitsTable {
  guide_id: number;
  /** A digest of the guide, the day and the address, which does not reveal the address. */
  visitor: string;
  /** Unix hours. */
  hour: number;
}
