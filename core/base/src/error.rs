//! The one error type: worded as PostgreSQL words its errors, so that where one is raised its [`ErrorKind`] becomes an
//! SQLSTATE, and nothing else changes.

use std::fmt;

/// What may fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Which SQLSTATE fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument is outside its range (22023).
    InvalidParameter,
    /// The text form of a value is malformed (22P02).
    InvalidText,
    /// The binary form of a value is malformed (22P03).
    InvalidBinary,
    /// Two values do not fit together (22000).
    DataException,
    /// A date does not match its format (22007).
    DatetimeFormat,
    /// A date that does not exist (22008).
    DatetimeOverflow,
    /// A NULL where none may be (22004).
    NullNotAllowed,
    /// Array bounds (2202E).
    ArraySubscript,
    /// Something has more of it than can be handled (54000).
    LimitExceeded,
    /// Something that this release does not know (0A000).
    NotSupported,
    /// Stored data that no code of ours can have written (XX002).
    Corrupted,
    /// Data in a format that only a newer version reads (0A000; 55P85 of an index, which can be rebuilt).
    NewerFormat,
    /// Data in a format that only an older version reads (the same).
    OlderFormat,
    /// Memory could not be reserved (53200).
    OutOfMemory,
    /// What only the server knows, by its number of the SQLSTATE.
    State(i32),
}

/// A text of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// Of ours.
    Utf8(String),
    /// With names and values, in the encoding of the database.
    Stored(Vec<u8>),
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Utf8(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::Utf8(text)
    }
}

impl From<Vec<u8>> for Text {
    fn from(text: Vec<u8>) -> Text {
        Text::Stored(text)
    }
}

impl Text {
    fn says_something(&self) -> bool {
        match self {
            Text::Utf8(text) => !text.is_empty(),
            Text::Stored(bytes) => !bytes.is_empty(),
        }
    }

    /// The text, empty if it is not in UTF-8.
    fn as_str(&self) -> &str {
        match self {
            Text::Utf8(text) => text,
            Text::Stored(bytes) => str::from_utf8(bytes).unwrap_or_default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Body {
    kind: ErrorKind,
    message: Text,
    detail: Option<Text>,
    detail_log: Option<Text>,
    hint: Option<Text>,
    about: Option<[Vec<u8>; 3]>,
    page: Option<u32>,
}

/// Message in lower case with the values in it, a detail that is a sentence, a hint that is an
/// action. Boxed: the good path carries one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Body>);

impl Error {
    /// An error with a message only, which is half a sentence in lower case.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Text>) -> Self {
        Error(Box::new(Body {
            kind,
            message: message.into(),
            detail: None,
            detail_log: None,
            hint: None,
            about: None,
            page: None,
        }))
    }

    /// The error of an argument that is outside its range, or nothing that there is.
    #[cold]
    pub fn invalid(message: impl Into<Text>) -> Self {
        Error::new(ErrorKind::InvalidParameter, message)
    }

    /// The error of two values that do not fit together, or of one that cannot be used so.
    #[cold]
    pub fn data_exception(message: impl Into<Text>) -> Self {
        Error::new(ErrorKind::DataException, message)
    }

    /// Something on a page that no code of ours can have written; `what` is half a sentence, as messages are.
    #[cold]
    pub fn damaged(what: impl Into<Text>) -> Self {
        Error::new(ErrorKind::Corrupted, what)
    }

    /// Data that a newer version has stored; `what` is half a sentence, as messages are, and `ours` the format version
    /// that this one reads.
    #[cold]
    pub fn newer_format(what: impl Into<Text>, ours: impl fmt::Display) -> Self {
        Error::new(ErrorKind::NewerFormat, what).detail(format!(
            "A newer version of bloom_ident has stored it. This one reads format version {ours}."
        ))
    }

    /// Data that a version has stored which is too old; `what` is half a sentence, as messages are, and `oldest` the oldest
    /// format version that this one reads.
    #[cold]
    pub fn older_format(what: impl Into<Text>, oldest: impl fmt::Display) -> Self {
        Error::new(ErrorKind::OlderFormat, what).detail(format!(
            "An older version of bloom_ident has stored it. The oldest format version that this one reads is {oldest}."
        ))
    }

    /// Says on which page of a segment it is, for callers that know what is stored where.
    #[must_use]
    pub fn on_page(mut self, page: u32) -> Self {
        self.0.page.get_or_insert(page);
        self
    }

    /// Adds a detail, a whole sentence; none if it is empty.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Text>) -> Self {
        self.0.detail = Some(detail.into()).filter(Text::says_something);
        self
    }

    /// This takes the place of the detail in the server's log.
    #[must_use]
    pub fn detail_log(mut self, detail: impl Into<Text>) -> Self {
        self.0.detail_log = Some(detail.into());
        self
    }

    /// Adds a hint, a whole sentence that says what to do; none if it is empty.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.0.hint = Some(hint.into()).filter(Text::says_something);
        self
    }

    /// Adds a hint where there is none.
    #[must_use]
    pub fn or_hint(mut self, hint: &str) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Puts a sentence in front of the hint, unless that is in the encoding of the database.
    #[must_use]
    pub fn hint_before(mut self, sentence: &str) -> Self {
        self.0.hint = match self.0.hint.take() {
            None => Some(sentence.into()),
            Some(Text::Utf8(hint)) => Some(format!("{sentence} {hint}").into()),
            stored => stored,
        };
        self
    }

    /// The schema, table and constraint that it is about, as fields for clients.
    #[must_use]
    pub fn about(mut self, names: [Vec<u8>; 3]) -> Self {
        self.0.about = Some(names);
        self
    }

    /// Adds to the detail and to the hint.
    #[must_use]
    pub fn more(mut self, detail: &str, hint: &[u8]) -> Self {
        for (text, more) in [
            (&mut self.0.detail, detail.as_bytes()),
            (&mut self.0.hint, hint),
        ] {
            let mut all = match text.take() {
                Some(Text::Utf8(text)) => text.into_bytes(),
                Some(Text::Stored(bytes)) => bytes,
                None => Vec::new(),
            };
            all.extend_from_slice(more);
            *text = Some(Text::Stored(all));
        }
        self
    }

    /// The same error under another kind: a value read from binary instead of text, say.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// The error of a request for so many bytes that was refused.
    #[cold]
    pub fn out_of_memory(bytes: usize) -> Self {
        Error::new(ErrorKind::OutOfMemory, "out of memory")
            .detail(format!("Failed on a request of {bytes} bytes."))
    }

    /// Says in front of the message whose error it is, which is half a sentence.
    #[must_use]
    pub fn of(mut self, whose: &str) -> Self {
        if let Text::Utf8(message) = &mut self.0.message {
            *message = format!("{whose}: {message}");
        }
        self
    }

    /// Which SQLSTATE fits.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The page of a segment that it is on.
    pub fn page(&self) -> Option<u32> {
        self.0.page
    }

    /// Half a sentence in lower case, with the values in it.
    pub fn message(&self) -> &str {
        self.0.message.as_str()
    }

    /// A whole sentence.
    pub fn detail_text(&self) -> Option<&str> {
        self.0.detail.as_ref().map(Text::as_str)
    }

    /// A whole sentence that says what to do.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_ref().map(Text::as_str)
    }

    /// Message, detail, detail for the log, and hint.
    pub fn texts(&self) -> [Option<&Text>; 4] {
        let Body {
            message,
            detail,
            detail_log,
            hint,
            ..
        } = &*self.0;
        [
            Some(message),
            detail.as_ref(),
            detail_log.as_ref(),
            hint.as_ref(),
        ]
    }

    /// Schema, table and constraint that it is about.
    pub fn object_names(&self) -> Option<&[Vec<u8>; 3]> {
        self.0.about.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// A text as it may stand in a message: its first `most` characters, and `...` if there are more.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What somebody typed, as it may stand in a message: short, and on one line.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    shortened(text, LONGEST).replace(char::is_control, " ")
}

/// A float as it stands in a message: as people write it, also when it is very small or large.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == f64::INFINITY {
        let name = if value > 0.0 { "Infinity" } else { "-Infinity" };
        name.to_owned()
    } else if value == 0.0 {
        "0".to_owned()
    } else if value.is_nan() || (1e-6..1e15).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}
