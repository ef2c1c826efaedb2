/** The errors that a random history meets. */
export const ALREADY_OWNED = 900_034;
export const NOT_OWNED = 900_033;
export const SOLD_OUT = 900_061;
export const INSUFFICIENT = 900_049;
export const OWING = 900_008;
export const UNEXPECTED = 900_000;
export const NO_PACK = 900_051;
export const NO_ENTITLEMENT = 900_064;
export const NOT_FINAL = 900_055;
export const PAYMENT_FAILED = 900_030;
export const MERGE_REFUSED = 17_043;
