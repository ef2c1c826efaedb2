declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_dependencies: ModDependenciesTable;
  }
}

/** `mod_id` depends on `dependency_id`; both are mods of one game, and there are no cycles. */
interface ModDependenciesTable {
  mod_id: number;
  dependency_id: number;
  date_added: number;
}
