// Shared by resources that change what belongs to a mod, since a store imports no other resource.

/** What decides who sees a mod and what can be done with it, with what its game says about both. */
export interface ModInGame {
  readonly id: number;
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  readonly submitted_by: number;
  readonly date_live: number;
  readonly dmca: number;
  readonly monetization_options: number;
  readonly stock: number;
  readonly price: number;
  readonly game_status: number;
  readonly api_access_options: number;
  readonly game_community_options: number;
}

/** The columns of `ModInGame`, of a mod `m` and its game `g`. */
export const IN_GAME = `m.id, m.game_id, m.status, m.visible, m.submitted_by, m.date_live, m.dmca, m.monetization_options,
  m.stock, m.price, g.status as game_status, g.api_access_options, g.community_options as game_community_options`;
