//! Regular expressions of schemas, which are Python's: those that mean the same here.
//!
//! A pattern is taken apart, and written again from the parts that are known: characters, dots, classes with \d, \s and \w,
//! groups, alternatives and repetitions; ^ and $ at its ends. All else is refused by its name: some of it has no
//! counterpart, and some means something else here.

use base::Result;
use regex::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, GroupKind, Literal,
    LiteralKind, RepetitionKind, RepetitionRange, SpecialLiteralKind,
};

use crate::json::Member;

/// Bytes that a compiled pattern may take.
const MOST_BYTES: usize = 1 << 20;

/// What Python's classes are. A word has letters, numbers and underscores, and no marks, other than here.
const DIGIT: &str = r"\p{Nd}";
const SPACE: &str = r"\s\x1c-\x1f";
const WORD: &str = r"\p{L}\p{N}_";

/// The pattern, which matches whole values.
///
/// Errors: it is none, or one of which a part is not supported.
pub(crate) fn compile(member: &Member<'_>) -> Result<Regex> {
    let written = member.text()?;
    let wrong = |why: &dyn std::fmt::Display| {
        member.unsupported("the pattern").detail(format!(
            "Of Python's regular expressions a part is known: {why}."
        ))
    };
    // A blank within braces makes them characters there, and is passed over here.
    let has_blanks = |part: &str| part.split('}').next().is_some_and(|of| of.contains(' '));
    if written.contains("(?<")
        || written.contains("{,")
        || written.split('{').skip(1).any(has_blanks)
    {
        return Err(wrong(&"(?<…), {,n} and blanks within braces are not"));
    }
    let ast = Parser::new().parse(written).map_err(|e| wrong(e.kind()))?;
    let mut pattern = String::from(r"\A(?:");
    let written = Translation::new(&ast).write(&mut pattern);
    written.map_err(|what| wrong(&format!("{what} is not")))?;
    pattern.push_str(r")\z");
    let built = RegexBuilder::new(&pattern).size_limit(MOST_BYTES).build();
    built.map_err(|_| wrong(&"it is too large"))
}

/// What a part is called that is not known.
type Unknown = &'static str;

struct Translation<'a> {
    ast: &'a Ast,
}

impl<'a> Translation<'a> {
    fn new(ast: &'a Ast) -> Translation<'a> {
        Translation { ast }
    }

    /// Writes the pattern. At its ends there may be ^ and $, which say nothing, since whole values are matched.
    fn write(&self, to: &mut String) -> std::result::Result<(), Unknown> {
        let Ast::Concat(concat) = self.ast else {
            return match is_edge(self.ast, true) || is_edge(self.ast, false) {
                true => Ok(()),
                false => part(self.ast, to),
            };
        };
        let mut parts = &concat.asts[..];
        if let [first, rest @ ..] = parts {
            if is_edge(first, true) {
                parts = rest;
            }
        }
        if let [rest @ .., last] = parts {
            if is_edge(last, false) {
                parts = rest;
            }
        }
        parts.iter().try_for_each(|ast| part(ast, to))
    }
}

/// Whether it says that a value begins, or ends.
fn is_edge(ast: &Ast, at_start: bool) -> bool {
    let Ast::Assertion(assertion) = ast else {
        return false;
    };
    match at_start {
        true => [AssertionKind::StartLine, AssertionKind::StartText].contains(&assertion.kind),
        false => assertion.kind == AssertionKind::EndLine,
    }
}

fn part(ast: &Ast, to: &mut String) -> std::result::Result<(), Unknown> {
    match ast {
        Ast::Empty(_) => Ok(()),
        Ast::Literal(literal) => {
            let c = character(literal)?;
            to.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
            Ok(())
        }
        Ast::Dot(_) => {
            to.push_str(r"[^\n]");
            Ok(())
        }
        Ast::ClassPerl(class) => {
            to.push('[');
            perl(class, to)?;
            to.push(']');
            Ok(())
        }
        Ast::ClassBracketed(class) => {
            to.push_str(if class.negated { "[^" } else { "[" });
            set(&class.kind, to)?;
            to.push(']');
            Ok(())
        }
        Ast::Repetition(repetition) => {
            if matches!(
                *repetition.ast,
                Ast::Repetition(_) | Ast::Assertion(_) | Ast::Empty(_)
            ) {
                return Err("a repetition of that");
            }
            to.push_str("(?:");
            part(&repetition.ast, to)?;
            to.push(')');
            to.push_str(&match &repetition.op.kind {
                RepetitionKind::ZeroOrOne => "?".to_owned(),
                RepetitionKind::ZeroOrMore => "*".to_owned(),
                RepetitionKind::OneOrMore => "+".to_owned(),
                RepetitionKind::Range(RepetitionRange::Exactly(n)) => format!("{{{n}}}"),
                RepetitionKind::Range(RepetitionRange::AtLeast(n)) => format!("{{{n},}}"),
                RepetitionKind::Range(RepetitionRange::Bounded(n, m)) => format!("{{{n},{m}}}"),
            });
            Ok(())
        }
        Ast::Group(group) => {
            if let GroupKind::NonCapturing(flags) = &group.kind {
                if !flags.items.is_empty() {
                    return Err("a flag");
                }
            }
            to.push_str("(?:");
            part(&group.ast, to)?;
            to.push(')');
            Ok(())
        }
        Ast::Alternation(alternation) => {
            to.push_str("(?:");
            for (n, ast) in alternation.asts.iter().enumerate() {
                if n > 0 {
                    to.push('|');
                }
                part(ast, to)?;
            }
            to.push(')');
            Ok(())
        }
        Ast::Concat(concat) => concat.asts.iter().try_for_each(|ast| part(ast, to)),
        Ast::Assertion(_) => Err("an assertion other than ^ and $ at the ends"),
        Ast::Flags(_) => Err("a flag"),
        Ast::ClassUnicode(_) => Err("a class \\p"),
    }
}

/// A character that Python writes in the same way.
fn character(literal: &Literal) -> std::result::Result<char, Unknown> {
    match &literal.kind {
        LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Superfluous => Ok(literal.c),
        LiteralKind::HexFixed(_) => Ok(literal.c),
        LiteralKind::Special(kind) => match kind {
            SpecialLiteralKind::Space => Err("an escaped blank"),
            _ => Ok(literal.c),
        },
        LiteralKind::HexBrace(_) => Err("a character in braces"),
        LiteralKind::Octal => Err("an octal character"),
    }
}

/// The members of a class, without its brackets.
fn perl(class: &ClassPerl, to: &mut String) -> std::result::Result<(), Unknown> {
    let members = match class.kind {
        ClassPerlKind::Digit => DIGIT,
        ClassPerlKind::Space => SPACE,
        ClassPerlKind::Word => WORD,
    };
    match class.negated {
        true => {
            to.push_str("[^");
            to.push_str(members);
            to.push(']');
        }
        false => to.push_str(members),
    }
    Ok(())
}

fn set(set: &ClassSet, to: &mut String) -> std::result::Result<(), Unknown> {
    match set {
        ClassSet::Item(item) => self::item(item, to),
        ClassSet::BinaryOp(_) => Err("an operation on classes"),
    }
}

fn item(item: &ClassSetItem, to: &mut String) -> std::result::Result<(), Unknown> {
    let mut push = |literal: &Literal| {
        // Whatever it is, it is one character here.
        to.push_str(&format!("\\x{{{:x}}}", u32::from(character(literal)?)));
        Ok(())
    };
    match item {
        ClassSetItem::Empty(_) => Ok(()),
        ClassSetItem::Literal(literal) => push(literal),
        ClassSetItem::Range(range) => {
            push(&range.start)?;
            to.push('-');
            to.push_str(&format!("\\x{{{:x}}}", u32::from(character(&range.end)?)));
            Ok(())
        }
        ClassSetItem::Perl(class) => perl(class, to),
        ClassSetItem::Union(union) => union.items.iter().try_for_each(|i| self::item(i, to)),
        ClassSetItem::Ascii(_) | ClassSetItem::Bracketed(_) => Err("a class within a class"),
        ClassSetItem::Unicode(_) => Err("a class \\p"),
    }
}
