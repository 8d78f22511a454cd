/** An authenticated caller. */
export type Principal = {
  /** Fingerprint that records carry as their owner: the same caller has the same one on every replica. */
  readonly id: string;
  /** As the operator named it; for people and logs. */
  readonly name: string;
};

export type AuthAnswer =
  | { readonly kind: "known"; readonly principal: Principal }
  /** `challenge` is the value of WWW-Authenticate; `message` says what to do. */
  | { readonly kind: "refused"; readonly challenge: string; readonly message: string };

/** From the Authorization header (null when there is none) to the caller. */
export type Authenticate = (authorization: string | null) => AuthAnswer;
