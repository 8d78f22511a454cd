/** A number that JSON has no word for, as payloads carry it. `overflow`: stars where the digits did not fit. */
export type Nonfinite = { readonly nonfinite: "nan" | "inf" | "-inf" | "overflow" };

const NAN: Nonfinite = { nonfinite: "nan" };
const OVERFLOW: Nonfinite = { nonfinite: "overflow" };

/** Decimal; E or Fortran's D before the exponent, which may have any number of digits. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?$/;

/** Fortran drops the letter when the exponent has three digits. */
const WITHOUT_LETTER = /^([+-]?(?:\d+\.\d*|\.\d+))([+-]\d{3})$/;

/** C, Fortran, Python and YAML (`.nan`), and the Microsoft runtime (`1.#IND`, `-nan(ind)`). */
const NOT_A_NUMBER = /^[+-]?(?:\.?nan(?:q|s|\([^()]{0,16}\))?|\d+\.#(?:ind|q?nan|snan)\d*)$/i;
const INFINITE = /^([+-]?)(?:\.?inf(?:inity)?|\d+\.#inf\d*)$/i;

/**
 * The value of one word of a log in any spelling of the programs that we know; null when it is no number (thousands
 * separators, decimal commas, hexadecimal, a broken exponent). What is too big for a double is infinite; too small is 0.
 */
export function readNumber(word: string): number | Nonfinite | null {
  if (DECIMAL.test(word)) return finite(Number(word) || Number(word.replace(/[dD]/, "e")));
  const [, mantissa, exponent] = WITHOUT_LETTER.exec(word) ?? [];
  if (mantissa !== undefined) return finite(Number(`${mantissa}e${exponent ?? ""}`));
  if (/^\*{2,}$/.test(word)) return OVERFLOW;
  if (NOT_A_NUMBER.test(word)) return NAN;
  const sign = INFINITE.exec(word)?.[1];
  return sign === undefined ? null : infinite(sign === "-");
}

function finite(value: number): number | Nonfinite {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  return infinite(value < 0);
}

function infinite(isNegative: boolean): Nonfinite {
  return { nonfinite: isNegative ? "-inf" : "inf" };
}
